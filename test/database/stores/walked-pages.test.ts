import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { operator } from '../../../src/domain/access/principal.ts';
import type { Id } from '../../../src/domain/id.ts';
import { orderSorting } from '../../../src/domain/orders/order.store.ts';
import { inventorySorting } from '../../../src/domain/inventory/inventory-item.store.ts';
import type { ListRequest, Page, PageArguments, Sorting } from '../../../src/domain/page.ts';
import { petStatuses } from '../../../src/domain/pets/pet.entity.ts';
import { petSorting } from '../../../src/domain/pets/pet.store.ts';
import { Services } from '../../../src/domain/services.ts';
import { PageConnection } from '../../../src/graphql/connections/connection.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { expectedSlice } from './oracle.ts';
import { fillAtRandom } from './random-store.ts';

/** Instead of 200,000. */
const maxWalked = 50;

const opened = await openTestDatabase({ maxWalked });
const stored = await fillAtRandom(opened.sql, new SeededRandom(20_261_127));
await opened.sql('analyze');
const services = new Services(opened.stores, operator);

/** A list as clients ask for it, beside all of its rows. */
interface Kind<Row, Filter, SortField extends string> {
  readonly list: (request: ListRequest<Filter, SortField>) => Promise<Page<Row>>;
  readonly sorting: Sorting<Row, SortField>;
  readonly rows: readonly Row[];
  readonly matches: (filter: Filter, row: Row) => boolean;
  /** How many walks a page of this filter shares its rows among. */
  readonly walks: (filter: Filter) => number;
}

interface Asked<Filter, SortField extends string> {
  readonly filter: Filter;
  readonly field: SortField;
  readonly direction: 'asc' | 'desc';
  readonly size: number;
  readonly isBackwards: boolean;
}

/** All rows of the list, in its order, page after page; and how many pages there were. */
async function readThrough<Row>(
  list: (page: PageArguments) => Promise<Page<Row>>,
  { size, isBackwards }: Pick<Asked<unknown, string>, 'size' | 'isBackwards'>,
): Promise<{ readonly rows: Row[]; readonly pages: number }> {
  let rows: Row[] = [];
  let position: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const page = await list(isBackwards ? { last: size, before: position } : { first: size, after: position });
    rows = isBackwards ? [...page.rows, ...rows] : [...rows, ...page.rows];
    const { pageInfo } = new PageConnection(page, () => Promise.resolve(0));
    const hasMore = isBackwards ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
    if (!hasMore) return { rows, pages };
    const next = isBackwards ? pageInfo.startCursor : pageInfo.endCursor;
    expect([typeof next, next]).toEqual(['string', expect.not.stringMatching(`^${position}$`)]);
    position = next;
  }
}

/** The union of all pages is the list, and each page but the last is full or has looked at its share of rows. */
async function expectAll<Row, Filter, SortField extends string>(
  kind: Kind<Row, Filter, SortField>,
  asked: Asked<Filter, SortField>,
): Promise<void> {
  const { filter, field, direction, size } = asked;
  const sort = { field, direction };
  const read = await readThrough((page) => kind.list({ ...page, filter, orderBy: sort }), asked);
  const matching = kind.rows.filter((row) => kind.matches(filter, row));
  const keyset = { sort, after: undefined, before: undefined, takeLast: false, limit: kind.rows.length };
  expect(read.rows).toEqual(expectedSlice(kind.sorting, matching, keyset).rows);
  const share = Math.max(1, Math.floor(maxWalked / kind.walks(filter)));
  const needed = Math.max(1, Math.ceil(matching.length / size));
  expect(read.pages).toBeLessThanOrEqual(needed + Math.ceil(kind.rows.length / share));
}

const someOf = <Item>(items: readonly Item[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...items), { maxLength: 4 }), { nil: undefined });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const page = {
  direction: fc.constantFrom('asc' as const, 'desc' as const),
  size: fc.constantFrom(1, 2, 7, 20, 100),
  isBackwards: fc.boolean(),
};
const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');
const isIn = <Value>(chosen: readonly Value[] | undefined, value: Value): boolean => chosen?.includes(value) ?? true;

/** Of no, some and nearly all names, with trigrams and without. */
const needles = fc.constantFrom(
  'rex',
  'rex ii',
  'rex rex',
  'ii rex',
  'x ii',
  'привет',
  'σασοσ',
  'e',
  'z',
  '_',
  '100',
  'zzz',
  'zz',
  '---',
);
const categoryIds = stored.categories.slice(0, 9).map(({ id }) => id);
const petFilters = fc.record({
  statusIn: someOf(petStatuses),
  categoryIdIn: someOf(categoryIds),
  nameContains: needles,
});
type PetFilter = typeof petFilters extends fc.Arbitrary<infer Filter> ? Filter : never;
type Pet = (typeof stored.pets)[number];
const petMatches = ({ statusIn, categoryIdIn, nameContains }: PetFilter, row: Pet): boolean =>
  isIn(statusIn, row.status) && isIn(categoryIdIn, row.categoryId) && folded(row.name).includes(folded(nameContains));
/** To test a name takes as long as to pass so many rows. */
const rowsPerName = 2.5;
const petWalks = ({ statusIn, categoryIdIn }: PetFilter): number =>
  rowsPerName * Math.max(1, statusIn?.length ?? 1) * Math.max(1, categoryIdIn?.length ?? 1);

const instants = Array.from({ length: 9 }, (_, n) => new Date(-62_135_596_800_000 + n * 1e12).toISOString());
const orderFilters = fc.record({
  petIdIn: someOf(stored.pets.slice(0, 12).map(({ id }) => id)),
  complete: maybe(fc.boolean()),
  shipDateFrom: maybe(fc.constantFrom(...instants)),
  shipDateTo: maybe(fc.constantFrom(...instants)),
});
type OrderFilter = typeof orderFilters extends fc.Arbitrary<infer Filter> ? Filter : never;
type Order = (typeof stored.orders)[number];
const orderMatches = ({ petIdIn, complete, shipDateFrom, shipDateTo }: OrderFilter, row: Order): boolean =>
  (petIdIn === undefined || (row.petId !== null && petIdIn.includes(row.petId as Id))) &&
  isIn(complete === undefined ? undefined : [complete], row.complete) &&
  (shipDateFrom === undefined || (row.shipDate !== null && row.shipDate! >= new Date(shipDateFrom))) &&
  (shipDateTo === undefined || (row.shipDate !== null && row.shipDate! < new Date(shipDateTo)));

const times = { numRuns: 60, seed: 66, endOnFailure: true };

describe('whoever follows the cursors of pages that stop gets the whole list, each row once', () => {
  it('of pets', () =>
    fc.assert(
      fc.asyncProperty(fc.record({ filter: petFilters, field: fc.constantFrom('ID', 'NAME'), ...page }), (asked) =>
        expectAll(
          {
            list: (request) => services.pets.list(request),
            sorting: petSorting,
            rows: stored.pets,
            matches: petMatches,
            walks: petWalks,
          },
          asked,
        ),
      ),
      times,
    ));

  it('of orders', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({ filter: orderFilters, field: fc.constantFrom('ID', 'SHIP_DATE'), ...page }),
        (asked) =>
          expectAll(
            {
              list: (request) => services.orders.list(request),
              sorting: orderSorting,
              rows: stored.orders,
              matches: orderMatches,
              // Those with a date and those without one are walked apart.
              walks: ({ petIdIn }) => 2 * Math.max(1, petIdIn?.length ?? 1),
            },
            asked,
          ),
      ),
      times,
    ));

  it('of the inventory', () => {
    const filters = fc.record({
      statusIn: someOf(petStatuses),
      quantityAtLeast: maybe(fc.nat(4)),
      quantityAtMost: maybe(fc.nat(6)),
    });
    return fc.assert(
      fc.asyncProperty(fc.record({ filter: filters, field: fc.constantFrom('PET_ID', 'QUANTITY'), ...page }), (asked) =>
        expectAll(
          {
            list: (request) => services.inventory.list(request),
            sorting: inventorySorting,
            rows: stored.inventory,
            matches: ({ statusIn, quantityAtLeast = 0, quantityAtMost = 9 }, row) =>
              isIn(statusIn, row.status) && row.quantity >= quantityAtLeast && row.quantity <= quantityAtMost,
            // The pet of each item is looked at, five times as dear.
            walks: ({ statusIn }) => 6 * Math.max(1, statusIn?.length ?? 1),
          },
          asked,
        ),
      ),
      times,
    );
  });

  it('of the pets of several categories, which share the rows that are looked at', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({ filter: petFilters, field: fc.constantFrom('ID', 'NAME'), ...page }),
        fc.uniqueArray(fc.constantFrom(...categoryIds), { minLength: 2, maxLength: 5 }),
        async (asked, parents) => {
          for (const [index, parent] of parents.entries())
            await expectAll(
              {
                list: async (request) => {
                  const pages = await services.pets.listPerParent({ property: 'categoryId', ids: parents }, request);
                  expect(pages).toHaveLength(parents.length);
                  return pages[index]!;
                },
                sorting: petSorting,
                rows: stored.pets.filter(({ categoryId }) => categoryId === parent),
                matches: petMatches,
                walks: (filter) => parents.length * petWalks(filter),
              },
              asked,
            );
        },
      ),
      { ...times, numRuns: 25 },
    ));

  it('of the orders of several pets', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({ filter: orderFilters, field: fc.constantFrom('ID', 'SHIP_DATE'), ...page }),
        fc.uniqueArray(fc.constantFrom(...stored.pets.slice(0, 12).map(({ id }) => id)), {
          minLength: 2,
          maxLength: 4,
        }),
        async (asked, parents) => {
          for (const [index, parent] of parents.entries())
            await expectAll(
              {
                list: async (request) =>
                  (await services.orders.listPerParent({ property: 'petId', ids: parents }, request))[index]!,
                sorting: orderSorting,
                rows: stored.orders.filter(({ petId }) => petId === parent),
                matches: orderMatches,
                walks: ({ petIdIn }) => 2 * parents.length * Math.max(1, petIdIn?.length ?? 1),
              },
              asked,
            );
        },
      ),
      { ...times, numRuns: 25 },
    ));
});

it('a page that stops has looked at its share of rows, and no more', async () => {
  const stopped = await services.pets.list({ first: 10, filter: { nameContains: 'zz' } });
  expect(stopped.rows).toEqual([]);
  expect(stopped.hasNextPage).toBe(true);
  const { pageInfo } = new PageConnection(stopped, () => Promise.resolve(0));
  const sorted = stored.pets.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)));
  const last = sorted[maxWalked / rowsPerName - 1]!;
  expect(pageInfo.endCursor).toBe(stopped.cursorOf(last));
});

it('a search fetches no more rows than any other and stops, though many have its words or its trigrams', async () => {
  for (const nameContains of ['rex rex', 'rex re', 'ex rex', 'ii rex', 'ii-rex', 'x-rex']) {
    const words = nameContains.split(/\W/);
    const others = stored.pets.filter(({ name }) => words.some((word) => folded(name).includes(word)));
    expect(others.length).toBeGreaterThan(maxWalked / 10);
    const stopped = await services.pets.list({ first: 10, filter: { nameContains } });
    expect([stopped.rows, stopped.hasNextPage]).toEqual([[], true]);
  }
});

import { describe, expect, it } from '@jest/globals';

import { categoryList } from '../../../src/domain/categories/category.store.ts';
import type { Id } from '../../../src/domain/id.ts';
import { inventorySorting, type InventoryFilter } from '../../../src/domain/inventory/inventory-item.store.ts';
import { orderSorting, type OrderFilter } from '../../../src/domain/orders/order.store.ts';
import { sortValue, type Keyset, type Slice, type Sorting } from '../../../src/domain/page.ts';
import { petStatuses } from '../../../src/domain/pets/pet.entity.ts';
import type { Parents } from '../../../src/domain/store.ts';
import { petSorting, type PetFilter } from '../../../src/domain/pets/pet.store.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { expectedSlice } from './oracle.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { fillAtRandom, names, type StoredRows } from './random-store.ts';

const dice = new SeededRandom(20_261_121);
const rounds = 300;

const opened = await openTestDatabase();
const stored = await fillAtRandom(opened.sql, dice);

/** Several items, maybe one, none, or the same twice; or no choice at all. */
function someOf<Item>(items: readonly Item[]): Item[] | undefined {
  return dice.chance(0.5) ? undefined : Array.from({ length: dice.below(5) }, () => dice.oneOf(items));
}

function maybe<Value>(make: () => Value): Value | undefined {
  return dice.chance(0.4) ? make() : undefined;
}

function passes<Value>(chosen: readonly Value[] | undefined, value: Value): boolean {
  return chosen === undefined || chosen.includes(value);
}

/** Lower case; JavaScript too writes another sigma at the end of a word. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

function nameContains(filter: string | undefined, name: string): boolean {
  return filter === undefined || folded(name).includes(folded(filter));
}

function randomKeyset<Row, SortField extends string>(
  sorting: Sorting<Row, SortField>,
  rows: readonly Row[],
): Keyset<SortField> {
  const field = dice.oneOf(Object.keys(sorting.keys) as SortField[]);
  const position = (): Keyset<SortField>['after'] => {
    const row = dice.oneOf(rows);
    return { value: sortValue(sorting.keys[field], row), id: sorting.idOf(row) };
  };
  return {
    sort: { field, direction: dice.oneOf(['asc', 'desc']) },
    after: maybe(position),
    before: maybe(position),
    takeLast: dice.chance(0.5),
    limit: dice.oneOf([0, 1, 3, 5, 10, 20, 37, 100]),
  };
}

interface Kind<Row, Filter, SortField extends string> {
  readonly store: {
    page(filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>>;
    count(filter: Filter): Promise<number>;
  };
  readonly sorting: Sorting<Row, SortField>;
  readonly rows: readonly Row[];
  readonly filter: () => Filter;
  readonly matches: (filter: Filter, row: Row) => boolean;
}

async function expectReads<Row, Filter, SortField extends string>(kind: Kind<Row, Filter, SortField>): Promise<void> {
  const { store, sorting, rows, filter: randomFilter, matches } = kind;
  for (let round = 0; round < rounds; round += 1) {
    const filter = randomFilter();
    const keyset = randomKeyset(sorting, rows);
    const matching = rows.filter((row) => matches(filter, row));
    const [slice, count] = [await store.page(filter, keyset), await store.count(filter)];
    expect({ filter, keyset, slice, count }).toEqual({
      filter,
      keyset,
      slice: expectedSlice(sorting, matching, keyset),
      count: matching.length,
    });
  }
}

async function expectNestedReads<Row, Filter, SortField extends string>(
  kind: Kind<Row, Filter, SortField> & {
    readonly store: {
      pagePerParent(parents: Parents<Row>, filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>[]>;
      countPerParent(parents: Parents<Row>, filter: Filter): Promise<number[]>;
    };
    readonly parents: readonly Id[];
    readonly property: keyof Row & string;
  },
): Promise<void> {
  const { store, sorting, rows, filter: randomFilter, matches, parents, property } = kind;
  for (let round = 0; round < rounds / 3; round += 1) {
    const filter = randomFilter();
    const keyset = randomKeyset(sorting, rows);
    const chosen = ['77' as Id, ...parents.filter(() => dice.chance(0.6)), '-4711' as Id];
    const matching = chosen.map((id) => rows.filter((row) => row[property] === id && matches(filter, row)));
    const slices = await store.pagePerParent({ property, ids: chosen }, filter, keyset);
    const counts = await store.countPerParent({ property, ids: chosen }, filter);
    expect({ filter, keyset, slices, counts }).toEqual({
      filter,
      keyset,
      slices: matching.map((each) => expectedSlice(sorting, each, keyset)),
      counts: matching.map((each) => each.length),
    });
  }
}

const pets = () => ({
  store: opened.stores.pets,
  sorting: petSorting,
  rows: stored.pets,
  filter: (): PetFilter => ({
    statusIn: someOf(petStatuses),
    categoryIdIn: someOf([...stored.categories.slice(0, 9).map(({ id }) => id), '4711' as Id]),
    nameContains: maybe(() => dice.oneOf([...names, 'E', 'ë', '%', '_', '\\', 'ПРИ', ''])),
  }),
  matches: (filter: PetFilter, row: StoredRows['pets'][number]) =>
    passes(filter.statusIn, row.status) &&
    passes(filter.categoryIdIn, row.categoryId) &&
    nameContains(filter.nameContains, row.name),
  parents: stored.categories.slice(0, 9).map(({ id }) => id),
  property: 'categoryId' as const,
});

const orders = () => ({
  store: opened.stores.orders,
  sorting: orderSorting,
  rows: stored.orders,
  filter: (): OrderFilter => ({
    petIdIn: someOf(stored.pets.slice(0, 12).map(({ id }) => id)),
    complete: maybe(() => dice.chance(0.5)),
    shipDateFrom: maybe(() => new Date(-62_135_596_800_000 + dice.below(4) * 1e12)),
    shipDateTo: maybe(() => new Date(-62_135_596_800_000 + dice.below(9) * 1e12)),
  }),
  matches: ({ petIdIn, complete, shipDateFrom, shipDateTo }: OrderFilter, row: StoredRows['orders'][number]) =>
    (petIdIn === undefined || (row.petId !== null && petIdIn.includes(row.petId as Id))) &&
    (complete === undefined || row.complete === complete) &&
    (shipDateFrom === undefined || (row.shipDate !== null && row.shipDate! >= shipDateFrom)) &&
    (shipDateTo === undefined || (row.shipDate !== null && row.shipDate! < shipDateTo)),
  parents: stored.pets.slice(0, 13).map(({ id }) => id),
  property: 'petId' as const,
});

const inventory = () => ({
  store: opened.stores.inventory,
  sorting: inventorySorting,
  rows: stored.inventory,
  filter: (): InventoryFilter => ({
    statusIn: someOf(petStatuses),
    quantityAtLeast: maybe(() => dice.below(4)),
    quantityAtMost: maybe(() => dice.below(7)),
  }),
  matches: (
    { statusIn, quantityAtLeast = 0, quantityAtMost = 9 }: InventoryFilter,
    row: StoredRows['inventory'][number],
  ) => passes(statusIn, row.status) && row.quantity >= quantityAtLeast && row.quantity <= quantityAtMost,
  parents: stored.pets.slice(0, 13).map(({ id }) => id),
  property: 'petId' as const,
});

describe('a read returns what sorting and filtering in memory returns', () => {
  it('for categories', async () => {
    await expectReads({
      store: opened.stores.categories,
      sorting: categoryList.sorting,
      rows: stored.categories,
      filter: () => ({ nameContains: maybe(() => dice.oneOf(names)) }),
      matches: (filter, row) => nameContains(filter.nameContains, row.name),
    });
  });

  it('for pets', () => expectReads(pets()));
  it('for the pets of several categories', () => expectNestedReads(pets()));
  it('for orders', () => expectReads(orders()));
  it('for the orders of several pets', () => expectNestedReads(orders()));

  it('for the inventory', () => expectReads(inventory()));
  it('for the stock of several pets', () => expectNestedReads(inventory()));
});

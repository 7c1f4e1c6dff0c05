import { describe, expect, it } from '@jest/globals';

import { createMaintenanceOrm } from '../../../src/database/database.ts';
import { createWithEntities } from '../../../src/database/entity-manager.ts';
import type { Session, Statement, StatementValues } from '../../../src/platform/postgres/statement.ts';
import { RemoteClock } from '../../../src/platform/remote-clock.ts';
import { createStores } from '../../../src/database/stores/stores.ts';
import type { Id } from '../../../src/domain/id.ts';
import type { InventoryFilter } from '../../../src/domain/inventory/inventory-item.store.ts';
import type { OrderFilter } from '../../../src/domain/orders/order.store.ts';
import type { PetFilter } from '../../../src/domain/pets/pet.store.ts';
import type { Keyset } from '../../../src/domain/page.ts';
import type { Include } from '../../../src/domain/store.ts';
import { testCaller } from '../../support/caller.ts';
import { openTestDatabase } from '../../support/opened-database.ts';

const pets = 20_000;
const pageSize = 20;
/**
 * A walk along an index passes a few rows that the filter leaves out; a walk from the beginning passes half the store.
 */
const fewRows = 1_000;

const orm = createMaintenanceOrm('postgresql://unused/unused');

/** Of the statements since the test emptied it. */
const rowsRead: number[] = [];

const opened = await openTestDatabase();
// Without the events of each row.
await opened.sql(`begin; set local session_replication_role = replica;
  insert into categories (name) select 'Category ' || n from generate_series(1, 10) as n;
  insert into pets (name, status, category_id)
    select 'Pet ' || n * 7919 % 1000, (array['available', 'pending', 'sold'])[1 + n % 3], 1 + n % 10 from generate_series(1, ${pets}) as n;
  insert into inventory (pet_id, quantity) select id, id * 7919 % 100 from pets;
  insert into orders (pet_id, quantity, ship_date, complete)
    select id, 1, timestamptz '2026-01-01' + id * interval '1 minute', id % 3 = 0 from pets;
  insert into orders (pet_id, complete) select 1, false from generate_series(1, ${5 * pets});
  commit; analyze categories, pets, inventory, orders`);
/** Runs a statement for its plan: how many rows were read from tables and indexes, filtered out or not. */
const explain: Session = {
  caller: testCaller,
  run: async <Row>({ name, text }: Statement<Row>, values: StatementValues) => {
    const literals = values.map(literal);
    const plain = text.replaceAll(/\$(\d+)/g, (_, number: string) => String(literals[Number(number) - 1]));
    const sql = `explain (analyze, format json) ${name === undefined ? plain : `execute page(${literals.join(', ')})`}`;
    // What is prepared has the plan that is good for any value.
    const [response] = await opened.sql(
      name === undefined
        ? sql
        : `set plan_cache_mode = force_generic_plan; prepare page as ${text}; ${sql}; deallocate page; reset plan_cache_mode`,
    );
    const [{ Plan: plan }] = (response as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'];
    rowsRead.push(rowsReadIn(plan));
    return [];
  },
  defer: async (statement, values) => {
    await explain.run(statement, values);
  },
  lookUp: async ({ byId }, id) => (await explain.run(byId, [id]))[0],
  transaction: (work) => work(explain),
  withLease: () => Promise.reject(new Error('Only statements are explained.')),
};
const stores = createStores(orm.getMetadata(), createWithEntities(orm), new RemoteClock())(explain);

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function rowsReadIn(node: PlanNode): number {
  const {
    Plans: children = [],
    'Actual Rows': rows,
    'Actual Loops': loops,
    'Rows Removed by Filter': removed = 0,
  } = node;
  if (children.length === 0) return (rows + removed) * loops;
  return children.reduce((sum, child) => sum + rowsReadIn(child), 0);
}

function literal(value: unknown): string {
  return Array.isArray(value) ? `'{${value.join(',')}}'` : `'${String(value)}'`;
}

const middle = String(pets / 2) as Id;

/** For each order the value of the row in the middle. */
type Positions<SortField extends string> = Readonly<Record<SortField, string | number | null>>;

interface Pages<Filter, SortField extends string, Relation extends string> {
  page(filter: Filter, keyset: Keyset<SortField>, include?: Include<Relation>): Promise<unknown>;
}

/** The most rows that a page in the middle reads, of all orders and filters. */
async function mostRows<Filter, SortField extends string, Relation extends string>(
  list: Pages<Filter, SortField, Relation>,
  filters: readonly Filter[],
  positions: Positions<SortField>,
  include: readonly Relation[] = [],
): Promise<number> {
  rowsRead.length = 0;
  for (const [field, value] of Object.entries(positions) as [SortField, string | number | null][]) {
    for (const direction of ['asc', 'desc'] as const) {
      const keyset = { sort: { field, direction }, after: { value, id: middle }, before: undefined, takeLast: false };
      for (const filter of filters) await list.page(filter, { ...keyset, limit: pageSize }, include);
    }
  }
  expect(rowsRead).not.toHaveLength(0);
  return Math.max(...rowsRead);
}

describe('a page in the middle of a list reads a few rows, however it is filtered and sorted', () => {
  it('of pets', async () => {
    const filters: PetFilter[] = [
      {},
      { statusIn: ['sold'] },
      { statusIn: ['sold', 'pending'] },
      { categoryIdIn: ['7' as Id, '9' as Id] },
      { categoryIdIn: ['7' as Id], statusIn: ['sold'] },
    ];
    expect(await mostRows(stores.pets, filters, { ID: null, NAME: 'Pet 500' })).toBeLessThan(fewRows);
  });

  it('of orders', async () => {
    const filters: OrderFilter[] = [{}, { complete: true }, { shipDateFrom: new Date('2026-01-02T00:00:00Z') }];
    const positions = { ID: null, SHIP_DATE: Date.UTC(2026, 0, 8) };
    expect(await mostRows(stores.orders, filters, positions)).toBeLessThan(fewRows);
  });

  it('of the inventory', async () => {
    const filters: InventoryFilter[] = [
      {},
      { statusIn: ['sold'] },
      { statusIn: ['sold', 'pending'] },
      { quantityAtLeast: 20 },
      { quantityAtLeast: 20, statusIn: ['sold'] },
    ];
    expect(await mostRows(stores.inventory, filters, { PET_ID: null, QUANTITY: 50 })).toBeLessThan(fewRows);
  });

  it('with the related rows', async () => {
    const petFilters: PetFilter[] = [{}, { statusIn: ['sold'] }];
    const rows = [
      await mostRows(stores.pets, petFilters, { ID: null, NAME: 'Pet 500' }, ['category', 'inventory']),
      await mostRows(stores.orders, [{}], { ID: null, SHIP_DATE: Date.UTC(2026, 0, 8) }, ['pet']),
      await mostRows(stores.inventory, [{}, { quantityAtLeast: 20 }], { PET_ID: null, QUANTITY: 50 }, ['pet']),
    ];
    expect(Math.max(...rows)).toBeLessThan(fewRows);
  });

  it('of the few rows that match, which an index of their own finds', async () => {
    const day = { shipDateFrom: new Date('2026-01-02T00:00:00Z'), shipDateTo: new Date('2026-01-02T02:00:00Z') };
    const rows = [
      await mostRows(stores.orders, [day, { ...day, complete: true }], { ID: null, SHIP_DATE: Date.UTC(2026, 0, 2) }),
      await mostRows(stores.inventory, [{ quantityAtLeast: 99 }], { PET_ID: null, QUANTITY: 50 }),
    ];
    // A short walk looks at 1,000 rows before, and what is found is read a few times.
    expect(Math.max(...rows)).toBeLessThan(pets / 4);
  });

  it('of orders without a ship date', async () => {
    const filters: OrderFilter[] = [{}, { complete: false }, { petIdIn: ['1' as Id] }];
    expect(await mostRows(stores.orders, filters, { ID: null, SHIP_DATE: null })).toBeLessThan(fewRows);
  });
});

import type { Id } from '../../domain/id.ts';
import { maxPageSize, type Keyset, type Slice, type Sorting } from '../../domain/page.ts';
import type { NestedReads } from '../../domain/reads.ts';
import type { Condition, Conditions } from './conditions.ts';
import { keysetPage, type SortColumn } from './keyset-page.ts';
import { FixedStatement, Statement, type StatementRunner } from './statement.ts';

/** Where the rows of one kind come from, in SQL. */
export interface Listing<Row, Filter, SortField extends string> {
  readonly sorting: Sorting<Row, SortField>;
  readonly from: string;
  /** What each property of a row is read from. */
  readonly columns: Readonly<Record<keyof Row & string, string>>;
  readonly id: string;
  /** The columns of each order; the last one is the id. An index has them in this order. */
  readonly by: Readonly<Record<SortField, readonly SortColumn[]>>;
  /** The foreign key to the parent, where there is one. */
  readonly parent?: string;
  readonly conditions: (filter: Filter) => Conditions;
  /** What the driver's values have to become; nothing when left out. */
  readonly parseRow?: (row: Row) => Row;
}

export function createListingReads<Row, Filter, SortField extends string>(
  listing: Listing<Row, Filter, SortField>,
  run: StatementRunner,
): NestedReads<Row, Filter, SortField> {
  return new ListingReads(listing, run);
}

class ListingReads<Row, Filter, SortField extends string> implements NestedReads<Row, Filter, SortField> {
  readonly #listing: Listing<Row, Filter, SortField>;
  readonly #run: StatementRunner;
  readonly #columns: string;
  readonly #byId: FixedStatement<Row>;
  readonly #byAnyId: FixedStatement<Row>;

  constructor(listing: Listing<Row, Filter, SortField>, run: StatementRunner) {
    this.#listing = listing;
    this.#run = run;
    this.#columns = Object.entries<string>(listing.columns)
      .map(([property, expression]) => `${expression} as "${property}"`)
      .join(', ');
    const rows = `select ${this.#columns} from ${listing.from} where ${listing.id} =`;
    this.#byId = new FixedStatement(`${rows} $1::bigint`);
    this.#byAnyId = new FixedStatement(`${rows} any($1::bigint[])`);
  }

  /** Most often it is one id: that needs no map, and no more than two promises. */
  byIds(ids: readonly Id[]): Promise<(Row | undefined)[]> {
    if (ids.length > 1) return this.#byManyIds(ids);
    if (ids.length === 0) return Promise.resolve([]);
    return this.#parsed(this.#byId.run(this.#run, ids)).then(([row]) => [row]);
  }

  async slice(filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>> {
    const conditions = this.#listing.conditions(filter);
    if (conditions === undefined) return nothing;
    const statement = statementFor(conditions, keyset);
    const page = this.#page(conditions, keyset, statement);
    return page === undefined ? nothing : cut(await this.#rows<Row>(statement, page), keyset);
  }

  async slicePerParent(parentIds: readonly Id[], filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>[]> {
    const conditions = this.#listing.conditions(filter);
    if (conditions === undefined || parentIds.length === 0) return parentIds.map(() => nothing);
    const statement = statementFor(conditions, keyset);
    const parents = statement.bind(parentIds, 'bigint[]');
    const ofParent: Condition = { sql: () => `${this.#listing.parent} = parents.id` };
    const page = this.#page([ofParent, ...conditions], keyset, statement);
    if (page === undefined) return parentIds.map(() => nothing);
    const rows = await this.#rows<Row & { parentIndex: string }>(
      statement,
      `select parents.index as "parentIndex", page.* from unnest(${parents}) with ordinality as parents (id, index)
       cross join lateral (${page}) as page`,
    );
    const perParent: Row[][] = parentIds.map(() => []);
    for (const { parentIndex, ...row } of rows) perParent[Number(parentIndex) - 1]?.push(row as Row);
    return perParent.map((each) => cut(each, keyset));
  }

  async count(filter: Filter): Promise<number> {
    const conditions = this.#listing.conditions(filter);
    if (conditions === undefined) return 0;
    // Never among the prepared ones, which have to be short.
    const statement = new Statement(false);
    const text = `select count(*) from ${this.#listing.from} ${where(conditions, statement)}`;
    const [row] = await statement.run<{ count: string }>(this.#run, text);
    return Number(row?.count);
  }

  async countPerParent(parentIds: readonly Id[], filter: Filter): Promise<number[]> {
    const conditions = this.#listing.conditions(filter);
    if (conditions === undefined || parentIds.length === 0) return parentIds.map(() => 0);
    const { from, parent } = this.#listing;
    const statement = new Statement(false);
    const ofParents: Condition = { sql: (bind) => `${parent} = any(${bind(parentIds, 'bigint[]')})` };
    const rows = await statement.run<{ parentId: string; count: string }>(
      this.#run,
      `select ${parent} as "parentId", count(*) from ${from} ${where([ofParents, ...conditions], statement)} group by 1`,
    );
    const counts = new Map(rows.map((row) => [row.parentId, Number(row.count)]));
    return parentIds.map((id) => counts.get(id) ?? 0);
  }

  async #byManyIds(ids: readonly Id[]): Promise<(Row | undefined)[]> {
    const { idOf } = this.#listing.sorting;
    const rows = await this.#parsed(this.#byAnyId.run(this.#run, [ids]));
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((each) => byId.get(each));
  }

  #rows<Found extends Row>(statement: Statement, text: string): Promise<Found[]> {
    return this.#parsed(statement.run<Found>(this.#run, text));
  }

  #parsed<Found extends Row>(answer: Promise<Found[]>): Promise<Found[]> {
    const { parseRow } = this.#listing;
    return parseRow === undefined ? answer : answer.then((rows) => rows.map((row) => parseRow(row) as Found));
  }

  #page(conditions: readonly Condition[], keyset: Keyset<SortField>, statement: Statement): string | undefined {
    const { by, from, sorting } = this.#listing;
    const { field } = keyset.sort;
    const source = { columns: this.#columns, from, conditions, by: by[field], type: sorting.keys[field]?.type };
    return keysetPage(source, keyset, statement);
  }
}

const nothing = { rows: [], hasMore: false } as const;

/** Prepared, if it is short and good for any value. */
function statementFor(conditions: readonly Condition[], { limit }: Keyset<string>): Statement {
  return new Statement(limit <= maxPageSize && !conditions.some(({ needsOwnPlan }) => needsOwnPlan));
}

function where(conditions: readonly Condition[], { bind }: Statement): string {
  return conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql(bind)).join(' and ')}`;
}

function cut<Row>(rows: readonly Row[], { limit, takeLast }: Keyset<string>): Slice<Row> {
  const kept = rows.slice(0, limit);
  return { rows: takeLast ? kept.toReversed() : kept, hasMore: rows.length > limit };
}

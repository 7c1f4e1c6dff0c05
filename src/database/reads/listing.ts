import { createHash } from 'node:crypto';

import type { Position } from '../../domain/cursor.ts';
import type { Id } from '../../domain/id.ts';
import type { Keyset, Slice, Sorting } from '../../domain/page.ts';
import type { NestedReads } from '../../domain/reads.ts';
import type { StatementRunner } from './statement-runner.ts';

/** Gives a value a place among the parameters of a statement. */
export type Bind = (value: unknown, type: string) => string;

/** A column that rows are sorted by, and the property under which a row has it. */
export interface SortColumn {
  readonly column: string;
  readonly property: string;
}

/** Where the rows of one kind come from, in SQL. */
export interface Listing<Row, Filter, SortField extends string> {
  readonly sorting: Sorting<Row, SortField>;
  readonly from: string;
  /** What each property of a row is read from. */
  readonly columns: Readonly<Record<keyof Row & string, string>>;
  readonly id: SortColumn;
  /** The column of each sort field that isn't the id. */
  readonly sortColumns: Readonly<Partial<Record<SortField, SortColumn>>>;
  /** The foreign key to the parent, where there is one. */
  readonly parent?: string;
  /** The conditions of a filter; undefined when nothing can fulfil it. */
  conditions(filter: Filter, bind: Bind): readonly string[] | undefined;
  /** What the driver's values have to become; nothing when left out. */
  readonly parseRow?: (row: Row) => Row;
}

/** Sizes that clients really use get a literal limit, for which PostgreSQL keeps a cheaper plan. One row more says whether there are more. */
const literalLimits = new Set([1, 5, 10, 20, 50, 100].map((size) => size + 1));

const sortTypes = { text: 'text', integer: 'int', instant: 'timestamptz' } as const;

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

  constructor(listing: Listing<Row, Filter, SortField>, run: StatementRunner) {
    this.#listing = listing;
    this.#run = run;
    this.#columns = Object.entries<string>(listing.columns)
      .map(([property, expression]) => `${expression} as "${property}"`)
      .join(', ');
  }

  async byIds(ids: readonly Id[]): Promise<(Row | undefined)[]> {
    if (ids.length === 0) return [];
    const { from, sorting } = this.#listing;
    const { column } = this.#listing.id;
    const statement = new Statement();
    const condition =
      ids.length === 1
        ? `${column} = ${statement.bind(ids[0], 'bigint')}`
        : `${column} = any(${statement.bind(ids, 'bigint[]')})`;
    const rows = await this.#rows(statement, `select ${this.#columns} from ${from} where ${condition}`);
    const byId = new Map(rows.map((row) => [sorting.idOf(row), row]));
    return ids.map((each) => byId.get(each));
  }

  async slice(filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>> {
    const statement = new Statement();
    const conditions = this.#listing.conditions(filter, statement.bind);
    if (conditions === undefined) return { rows: [], hasMore: false };
    const rows = await this.#rows(statement, this.#page(conditions, keyset, statement));
    return cut(rows, keyset);
  }

  async slicePerParent(parentIds: readonly Id[], filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>[]> {
    const statement = new Statement();
    const conditions = this.#listing.conditions(filter, statement.bind);
    if (conditions === undefined) return parentIds.map(() => ({ rows: [], hasMore: false }));
    const parents = statement.bind(parentIds, 'bigint[]');
    const page = this.#page([`${this.#listing.parent} = parents.id`, ...conditions], keyset, statement);
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
    const statement = new Statement();
    const conditions = this.#listing.conditions(filter, statement.bind);
    if (conditions === undefined) return 0;
    const [row] = await statement.run<{ count: string }>(
      this.#run,
      `select count(*) from ${this.#listing.from} ${where(conditions)}`,
    );
    return Number(row?.count);
  }

  async countPerParent(parentIds: readonly Id[], filter: Filter): Promise<number[]> {
    const statement = new Statement();
    const conditions = this.#listing.conditions(filter, statement.bind);
    if (conditions === undefined) return parentIds.map(() => 0);
    const { from, parent } = this.#listing;
    const parents = statement.bind(parentIds, 'bigint[]');
    const rows = await statement.run<{ parentId: string; count: string }>(
      this.#run,
      `select ${parent} as "parentId", count(*) from ${from} ${where([`${parent} = any(${parents})`, ...conditions])} group by 1`,
    );
    const counts = new Map(rows.map((row) => [row.parentId, Number(row.count)]));
    return parentIds.map((id) => counts.get(id) ?? 0);
  }

  async #rows<Found extends Row>(statement: Statement, text: string): Promise<Found[]> {
    const rows = await statement.run<Found>(this.#run, text);
    const { parseRow } = this.#listing;
    return parseRow === undefined ? rows : rows.map((row) => parseRow(row) as Found);
  }

  /** The rows of a stretch, one more than asked for, in the order in which they are taken. */
  #page(conditions: readonly string[], keyset: Keyset<SortField>, statement: Statement): string {
    const { sort, limit } = keyset;
    const { id, sortColumns, sorting } = this.#listing;
    const key = sortColumns[sort.field];
    const by = key === undefined ? [id] : [key, id];
    const limitSql = literalLimits.has(limit + 1) ? String(limit + 1) : statement.bind(limit + 1, 'bigint');
    const stretch = (
      columns: readonly SortColumn[],
      bounds: Keyset<SortField>,
      extra: readonly string[] = [],
    ): string => {
      const all = [...conditions, ...extra, ...this.#bounds(columns, bounds, statement)];
      const order = orderBy(
        columns.map(({ column }) => column),
        keyset,
      );
      return `select ${this.#columns} from ${this.#listing.from} ${where(all)} order by ${order} limit ${limitSql}`;
    };
    if (key === undefined || sorting.keys[sort.field]?.type !== 'instant') return stretch(by, keyset);

    // Rows without a value come last either way: they are a stretch of their own, in the order of their ids.
    const { after, before } = keyset;
    const stretches: string[] = [];
    if (after === undefined || after.value !== null) {
      const bounds = { ...keyset, before: before?.value === null ? undefined : before };
      stretches.push(stretch(by, bounds, [`${key.column} is not null`]));
    }
    if (before === undefined || before.value === null) {
      const bounds = { ...keyset, after: after?.value === null ? after : undefined };
      stretches.push(stretch([id], bounds, [`${key.column} is null`]));
    }
    const [first, second] = stretches;
    if (first === undefined || second === undefined)
      return first ?? `select ${this.#columns} from ${this.#listing.from} where false`;
    const order = orderBy(
      by.map(({ property }) => `both."${property}"`),
      keyset,
    );
    return `select * from ((${first}) union all (${second})) as both
      order by both."${key.property}" is null ${keyset.takeLast ? 'desc' : 'asc'}, ${order} limit ${limitSql}`;
  }

  #bounds(by: readonly SortColumn[], { after, before, sort }: Keyset<SortField>, statement: Statement): string[] {
    const compare = (position: Position | undefined, operator: string): string[] => {
      if (position === undefined) return [];
      const id = statement.bind(position.id, 'bigint');
      const columns = by.map(({ column }) => column);
      if (columns.length === 1) return [`${columns[0]} ${operator} ${id}`];
      return [`(${columns.join(', ')}) ${operator} (${this.#sortValue(position, sort.field, statement)}, ${id})`];
    };
    const [later, earlier] = sort.direction === 'asc' ? ['>', '<'] : ['<', '>'];
    return [...compare(after, later), ...compare(before, earlier)];
  }

  #sortValue({ value }: Position, field: SortField, statement: Statement): string {
    const type = this.#listing.sorting.keys[field]?.type ?? 'text';
    if (type === 'instant' && value !== null) {
      return statement.bind(new Date(value).toISOString(), sortTypes.instant);
    }
    return statement.bind(value, sortTypes[type]) + (type === 'text' ? ' collate "C"' : '');
  }
}

/** The text and the values of one statement, while it is put together. */
class Statement {
  readonly #values: unknown[] = [];

  readonly bind: Bind = (value, type) => `$${this.#values.push(value)}::${type}`;

  run<Row>(run: StatementRunner, text: string): Promise<Row[]> {
    return run(nameOf(text), text, this.#values);
  }
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `petstore_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}

function orderBy(expressions: readonly string[], { sort, takeLast }: Keyset<string>): string {
  const direction = (sort.direction === 'desc') === takeLast ? 'asc' : 'desc';
  return expressions.map((expression) => `${expression} ${direction}`).join(', ');
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}

function cut<Row>(rows: readonly Row[], { limit, takeLast }: Keyset<string>): Slice<Row> {
  const kept = rows.slice(0, limit);
  return { rows: takeLast ? kept.toReversed() : kept, hasMore: rows.length > limit };
}

import type { Keyset } from '../../domain/page.ts';
import { ownIndexOf, Placeholders, type Condition, type OwnIndex } from './conditions.ts';
import { at, RangeSql, type Walk, where, type PageSource, type SortColumn } from './keyset-page.ts';

/** The rows to page through, where no index serves the whole filter in the order. */
export interface WalkedSource extends PageSource {
  /** Where a row is found by its id. */
  readonly source: string;
  /** The name of the rows in all expressions. */
  readonly table: string;
  /** The column of the id. */
  readonly key: string;
  /** The joins of the related rows, each for a row of the page. */
  readonly joins: string;
  /** The conditions that rows of a walk may not meet. */
  readonly filters: ReadonlySet<Condition>;
  readonly position: readonly [value: string, id: string];
  /** The most rows that are fetched by an index of their own, to be sorted. */
  readonly maxMatched: number;
}

export interface WalkedPageText {
  readonly sql: string;
  /** Columns of the row; after them come whether it matches, whether its walk has stopped there, and its position. */
  readonly columnCount: number;
  readonly placeholders: Placeholders;
  /** How many walks one after another make the page. */
  readonly ranges: number;
}

/** How many columns a row has after its own. */
const walkedColumns = 4;

/**
 * The SQL of a page plus one row. Undefined when no row can match.
 *
 * A walk along the order's index looks at so many rows and stops: the last of them is returned too, matching or not.
 * Where the matching rows have an index of their own, a short walk comes first, which is enough where many match; then
 * the few rows that it finds are fetched and sorted; and if they are many, the order is walked for them. What isn't needed
 * isn't executed.
 */
export function walkedPageText(source: WalkedSource, keyset: Keyset<string>): WalkedPageText | undefined {
  const placeholders = new Placeholders();
  const { columns, columnCount, conditions, key, joins, position, parent, by } = source;
  const ranges = new RangeSql(source, keyset, placeholders);
  const walk = new BoundedWalk(source, ranges, at.maxWalked);
  const rows = ranges.rows(walk);
  if (rows === undefined) return undefined;
  const [index] = conditions.flatMap((each) => (source.filters.has(each) ? (ownIndexOf(each) ?? []) : []));
  const isSearched = index !== undefined && parent === undefined && by[0]?.isNullable !== true;
  const parts = isSearched ? searchParts(source, ranges, index, rows) : [];
  const found = parts.length > 0 ? 'found' : `(${rows})`;
  const list = [columns, 'found.matches', 'found.stops', ...position].join(', ');
  const page = `select ${list} from ${found} as found join ${source.source} on ${key} = found.${nameIn(key)} ${joins}
    order by ${ranges.orderWithNulls}`;
  const count = columnCount + walkedColumns;
  if (parent === undefined) {
    const sql = parts.length > 0 ? `with ${parts.join(', ')} ${page}` : page;
    return { sql, columnCount: count, placeholders, ranges: walk.count };
  }
  const parents = `unnest(${placeholders.bind(at.parents, 'bigint[]')}) with ordinality as parents (id, index)`;
  const sql = `select page.*, parents.index from ${parents} cross join lateral (${page}) as page`;
  return { sql, columnCount: count + 1, placeholders, ranges: walk.count };
}

/** The parts of a statement whose last one is `found`; `rows` are those of the whole walk. */
function searchParts(source: WalkedSource, ranges: RangeSql, index: OwnIndex, rows: string): string[] {
  const { table, conditions, maxMatched } = source;
  const short = `quick as materialized (${ranges.rows(new BoundedWalk(source, ranges, at.maxQuick))})`;
  const hasStopped = 'exists (select from quick where stops)';
  const { isUsable = 'true' } = index;
  const count = '(select count(*) from matched)';
  // A `case` stops at the first condition that is met, and `matched` is executed when it is read.
  const few = `case when not ${hasStopped} then false when ${isUsable} then ${count} <= ${maxMatched} else false end`;
  const many = `case when not ${hasStopped} then false when ${isUsable} then ${count} > ${maxMatched} else true end`;
  const fetched = conditions.map((each) => isFetched(source, each, index));
  const others = fetched.flatMap((isFound, each) =>
    isFound && index.candidates === undefined ? [] : [ranges.test(each)],
  );
  const tests = where([...others, ...ranges.bounds(), few]);
  const found = `found as (select quick.* from quick where not ${hasStopped}
      union all (select ${columnsOf(source)}, 0::bigint, true, false from matched as ${table} ${tests} order by ${ranges.order} limit ${ranges.limit})
      union all select walk.* from (${rows}) as walk where ${many})`;
  const matching = fetched.flatMap((isFound, each) => (isFound ? [ranges.test(each, index.candidates)] : []));
  return [short, ...matchedParts(source, index, matching), found];
}

/** The rows are fetched one after another, so that no more than these are. */
function matchedParts({ from, table, maxMatched }: WalkedSource, { column }: OwnIndex, matching: readonly string[]) {
  const rows = `select ${table}.* from ${from} ${where(matching)}`;
  const limit = `limit ${maxMatched + 1}`;
  if (column !== undefined) return [`matched as materialized (${rows} order by ${column} ${limit})`];
  // Apart from the limit, or the planner would look through the table for so many rows, whether there are or not.
  return [`hits as materialized (${rows})`, `matched as materialized (select hits.* from hits ${limit})`];
}

/** What else matches is tested on the rows that this index has found. */
function isFetched({ filters }: WalkedSource, condition: Condition, index: OwnIndex): boolean {
  const ownIndex = ownIndexOf(condition);
  return ownIndex !== undefined && ownIndex.column === index.column && filters.has(condition);
}

/** Columns that a walk needs, which the order's index often has: reading each row takes many times as long. */
function columnsOf({ table, by, key, filters }: WalkedSource): string {
  const columns = new Set([key, ...by.map(({ column }) => column)]);
  for (const { column } of filters) {
    if (column === undefined) return `${table}.*`;
    columns.add(column);
  }
  return [...columns].join(', ');
}

/** Looks at so many rows, and returns those that match, and the last one. */
class BoundedWalk implements Walk {
  readonly splitsChoices = true;
  /** How many walks it has become. */
  count = 0;
  readonly #source: WalkedSource;
  readonly #ranges: RangeSql;
  readonly #boundAt: number;

  constructor(source: WalkedSource, ranges: RangeSql, boundAt: number) {
    this.#source = source;
    this.#ranges = ranges;
    this.#boundAt = boundAt;
  }

  meets(condition: Condition): boolean {
    return !this.#source.filters.has(condition);
  }

  nameOf({ column }: SortColumn): string {
    return nameIn(column);
  }

  /** The parameter as the limit inside keeps the planner from reckoning with all of these rows. */
  read(rows: string): string {
    this.count += 1;
    const { table, conditions, filters, maxRows } = this.#source;
    const bound = this.#ranges.parameter(this.#boundAt);
    const tests = conditions.flatMap((each, index) => (filters.has(each) ? [this.#ranges.test(index)] : []));
    const filter = tests.join(' and ');
    const walked = `select ${table}.*, row_number() over () as walked
      from (select ${columnsOf(this.#source)} ${rows} limit ${bound}) as ${table}`;
    return `select walk.* from (
        select ${table}.*, ${filter} as matches, ${table}.walked = ${bound} as stops
        from (${walked}) as ${table} where (${filter}) or ${table}.walked = ${bound} limit ${maxRows + 1}
      ) as walk limit ${this.#ranges.limit}`;
  }
}

/** The name of a column without that of its table. */
function nameIn(column: string): string {
  return column.slice(column.lastIndexOf('.') + 1);
}

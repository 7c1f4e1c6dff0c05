import type { ListPosition } from '../../domain/cursor.ts';
import type { Keyset } from '../../domain/page.ts';
import type { Parameter } from '../../platform/postgres/index.ts';
import { Placeholders, type Condition } from './conditions.ts';
import { type ColumnType, positionParameter } from './value-types.ts';

export interface SortColumn {
  readonly column: string;
  readonly property: string;
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** The column that a join makes equal. PostgreSQL infers that for equality, not for range conditions. */
  readonly joined?: string;
}

export interface PageSource {
  /** The select list, with the properties as names. */
  readonly columns: string;
  readonly columnCount: number;
  /** The names of those that are texts. */
  readonly texts: readonly string[];
  readonly from: string;
  /** The column that names the parent, for the same page of each of several parents. */
  readonly parent: string | undefined;
  readonly conditions: readonly Condition[];
  /** The order; the last column is the id. */
  readonly by: readonly SortColumn[];
  /** The largest number of rows that this text is used for. */
  readonly maxRows: number;
}

/** The indexes of the values in the list from `pageValues`. */
export const at = {
  parents: 0,
  limit: 1,
  afterValue: 2,
  afterId: 3,
  beforeValue: 4,
  beforeId: 5,
  maxBytes: 6,
  maxWalked: 7,
  maxQuick: 8,
  conditions: 9,
} as const;

/** The values of a page's statement, for the `Placeholders` of its template. */
export function pageValues(
  { by, conditions }: Pick<PageSource, 'by' | 'conditions'>,
  { after, before, limit, maxBytes }: Keyset<string>,
  parents: readonly string[] = [],
  walked: readonly number[] = [],
): (Parameter | undefined)[] {
  const { type } = by[0] as SortColumn;
  const valueOf = ({ value }: ListPosition): Parameter => positionParameter(type, value);
  const [afterValue, beforeValue] = [after && valueOf(after), before && valueOf(before)];
  const filter = conditions.map(({ value }) => value);
  const [maxWalked, maxQuick] = walked;
  const bounds = [afterValue, after?.id, beforeValue, before?.id, maxBytes, maxWalked, maxQuick];
  return [parents, limit + 1, ...bounds, ...filter];
}

/** The same for pages whose statements differ in their values only. */
export function pageTemplate(keyset: Keyset<string>, conditions: readonly Condition[]): string {
  const { sort, after, before, takeLast, maxBytes } = keyset;
  const filter = conditions.map(({ template }) => template).join();
  const end = `${takeLast ? 'last' : 'first'}${maxBytes === undefined ? '' : ' bytes'}`;
  return `${sort.field} ${sort.direction} ${end} ${sideOf(after)} ${sideOf(before)} ${filter}`;
}

/** Few texts, about 500 in all, because each takes memory on each connection: forward pages with a generic plan. */
export function isPrepared(conditions: readonly Condition[], { takeLast, before }: Keyset<string>): boolean {
  return !takeLast && before === undefined && conditions.every(({ kind }) => kind === 'equality');
}

function sideOf(position: ListPosition | undefined): string {
  return position === undefined ? 'open' : position.value === null ? 'null' : 'value';
}

/**
 * The SQL of a page plus one row, which shows whether there are more. Undefined when no row can match.
 *
 * The rows come in the order in which they are taken: from the end for `takeLast`; with a parent, the index of the
 * parent comes after the columns; with `maxBytes`, the number of rows that there were before the bytes have cut them.
 * Each part of it is a walk along an index that ends with the limit, so that its cost depends neither on the number of
 * rows nor on the place in the list.
 */
export function pageText(
  source: PageSource,
  keyset: Keyset<string>,
): { readonly sql: string; readonly columnCount: number; readonly placeholders: Placeholders } | undefined {
  const placeholders = new Placeholders();
  const ranges = new RangeSql(source, keyset, placeholders);
  const rows = ranges.rows(wholeWalk(source, ranges));
  if (rows === undefined) return undefined;
  const sql =
    keyset.maxBytes === undefined ? rows : withinBytes(rows, source.texts, placeholders.bind(at.maxBytes, 'bigint'));
  const columnCount = source.columnCount + (keyset.maxBytes === undefined ? 0 : 2);
  if (source.parent === undefined) return { sql, columnCount, placeholders };
  const parents = `unnest(${placeholders.bind(at.parents, 'bigint[]')}) with ordinality as parents (id, index)`;
  const perParent = `select page.*, parents.index from ${parents} cross join lateral (${sql}) as page`;
  return { sql: perParent, columnCount: columnCount + 1, placeholders };
}

/** About so many bytes are taken by the values of a row that are no texts. */
const otherBytes = 100;

/** Cuts behind the row whose texts reach the bytes. (A row's own size would be that of compressed texts.) */
function withinBytes(rows: string, texts: readonly string[], maxBytes: string): string {
  const lengths = texts.map((name) => `coalesce(octet_length(page."${name}"), 0)`);
  const bytes = [otherBytes, ...lengths].join(' + ');
  return `select page.* from (
      select page.*, sum(${bytes}) over (rows between unbounded preceding and 1 preceding) as "bytesBefore",
        count(*) over () as "rowsFound"
      from (${rows}) as page
    ) as page where coalesce(page."bytesBefore", 0) < ${maxBytes}`;
}

type Bounds = Pick<Keyset<string>, 'after' | 'before'>;

/** A way to read the rows of a range. */
export interface Walk {
  /** Each of a choice of values has a walk of its own. */
  readonly splitsChoices: boolean;
  /** Reads the rows, which are given from `from` to `order by`. */
  read(rows: string): string;
  /** Whether it passes only rows that meet the condition. */
  meets(condition: Condition): boolean;
  /** The name of a column of the order in its rows. */
  nameOf(column: SortColumn): string;
}

/**
 * All conditions are met along one index. The literal limit lets PostgreSQL keep a generic plan, which a parameter alone
 * prevents. The parameter around it ends the walk sooner, so that one text serves all sizes of a page.
 */
function wholeWalk({ columns, conditions, maxRows }: PageSource, ranges: RangeSql): Walk {
  return {
    read: (rows) => `select walk.* from (select ${columns} ${rows} limit ${maxRows + 1}) as walk limit ${ranges.limit}`,
    meets: () => true,
    // With a plan for the values, the planner knows best where to begin.
    splitsChoices: conditions.every(({ kind }) => kind === 'equality'),
    nameOf: ({ property }) => `"${property}"`,
  };
}

/** The ranges of a page, and the walks along them. */
export class RangeSql {
  readonly #source: PageSource;
  readonly #keyset: Keyset<string>;
  readonly #placeholders: Placeholders;

  constructor(source: PageSource, keyset: Keyset<string>, placeholders: Placeholders) {
    this.#source = source;
    this.#keyset = keyset;
    this.#placeholders = placeholders;
  }

  /** The rows in the order; undefined when none can match. */
  rows(walk: Walk): string | undefined {
    return this.#source.by[0]?.isNullable === true ? this.#withNulls(walk) : this.#range(walk, this.#keyset);
  }

  /** Rows without a value come last either way: they are a range of their own, in the order of their ids. */
  #withNulls(walk: Walk): string | undefined {
    const { by, conditions } = this.#source;
    const { after, before, takeLast } = this.#keyset;
    const first = by[0] as SortColumn;
    const { column } = first;
    const ranges: string[] = [];
    if (after?.value !== null) {
      const bounds = { after, before: before?.value === null ? undefined : before };
      ranges.push(this.#range(walk, bounds, `${column} is not null`));
    }
    const hasNoNulls = conditions.some((each) => each.kind === 'range' && each.orderedBy === column);
    if (!hasNoNulls && (before === undefined || before.value === null)) {
      const bounds = { after: after?.value === null ? after : undefined, before };
      ranges.push(this.#range(walk, bounds, `${column} is null`));
    }
    if (ranges.length < 2) return ranges[0];
    const nullsLast = `page.${walk.nameOf(first)} is null ${takeLast ? 'desc' : 'asc'}`;
    return `select page.* from (${ranges.map((range) => `(${range})`).join(' union all ')}) as page
      order by ${nullsLast}, ${this.#orderOfPage(walk)} limit ${this.limit}`;
  }

  /**
   * One walk along an index; with a choice of values one for each of them, merged. (`= any` would read either all the
   * rows of these values or, in the order of the list, all the rows between.)
   *
   * Rows without a value are sorted by it as well, because that is the order that the index has them in.
   */
  #range(walk: Walk, bounds: Bounds, extra?: string): string {
    const { from, conditions, parent } = this.#source;
    const lists: string[] = [];
    const tests: string[] = [];
    for (const [index, condition] of conditions.entries()) {
      if (!walk.meets(condition)) continue;
      const { choice } = condition;
      if (!walk.splitsChoices || choice === undefined) tests.push(this.test(index));
      else {
        lists.push(`unnest(${this.#placeholders.bind(at.conditions + index, choice.type)}) as choice${index} (value)`);
        tests.push(`${choice.column} = choice${index}.value`);
      }
    }
    if (parent !== undefined) tests.unshift(`${parent} = parents.id`);
    if (extra !== undefined) tests.push(extra);
    tests.push(...this.bounds(bounds));
    const rows = walk.read(`from ${from} ${where(tests)} order by ${this.order}`);
    if (lists.length === 0) return rows;
    return `select page.* from ${lists.join(' cross join ')} cross join lateral (${rows}) as page
      order by ${this.#orderOfPage(walk)} limit ${this.limit}`;
  }

  /** The condition with this index, as SQL, or other SQL of its value. */
  test(index: number, { sql } = this.#source.conditions[index] as Pick<Condition, 'sql'>): string {
    return sql((type) => this.#placeholders.bind(at.conditions + index, type));
  }

  get limit(): string {
    return this.parameter(at.limit);
  }

  parameter(index: number): string {
    return this.#placeholders.bind(index, 'bigint');
  }

  get order(): string {
    return this.#source.by.map(({ column }) => `${column} ${this.#direction}`).join(', ');
  }

  /** Those without a value last, as all of a page's ranges together have them. */
  get orderWithNulls(): string {
    const [{ column, isNullable }] = this.#source.by as [SortColumn];
    if (!isNullable) return this.order;
    return `${column} is null ${this.#keyset.takeLast ? 'desc' : 'asc'}, ${this.order}`;
  }

  get #direction(): string {
    const { sort, takeLast } = this.#keyset;
    return (sort.direction === 'desc') === takeLast ? 'asc' : 'desc';
  }

  #orderOfPage(walk: Walk): string {
    return this.#source.by.map((each) => `page.${walk.nameOf(each)} ${this.#direction}`).join(', ');
  }

  /** The conditions of a range, or of the whole page. */
  bounds({ after, before }: Bounds = this.#keyset): string[] {
    const [later, earlier] = this.#keyset.sort.direction === 'asc' ? ['>', '<'] : ['<', '>'];
    return [
      ...(after === undefined ? [] : this.#beyond(later, after, at.afterValue, at.afterId)),
      ...(before === undefined ? [] : this.#beyond(earlier, before, at.beforeValue, at.beforeId)),
    ];
  }

  #beyond(operator: string, { value }: ListPosition, valueAt: number, idAt: number): string[] {
    const { by } = this.#source;
    const id = this.#placeholders.bind(idAt, 'bigint');
    const compared = value === null ? by.slice(-1) : by;
    const [{ type }] = compared as [SortColumn];
    const position = value === null ? id : `${this.#placeholders.bind(valueAt, type.cast)}, ${id}`;
    const sides = new Set([
      compared.map(({ column }) => column).join(', '),
      compared.map(({ column, joined = column }) => joined).join(', '),
    ]);
    return [...sides].map((columns) => `(${columns}) ${operator} (${position})`);
  }
}

export function where(tests: readonly string[]): string {
  return tests.length === 0 ? '' : `where ${tests.join(' and ')}`;
}

import type { Position, SortValueType } from '../../domain/cursor.ts';
import type { Keyset } from '../../domain/page.ts';
import type { Condition } from './conditions.ts';
import type { Statement } from './statement.ts';

/** A column that rows are sorted by, and the property under which a row has it. */
export interface SortColumn {
  readonly column: string;
  readonly property: string;
  /** What a join makes the same. PostgreSQL concludes that for values that are equal, not for those beyond a place in the list. */
  readonly joined?: string;
}

/** The rows that a page is taken from. */
export interface PageSource {
  /** The select list, with the properties as names. */
  readonly columns: string;
  readonly from: string;
  readonly conditions: readonly Condition[];
  /** The order; the last column is the id. */
  readonly by: readonly SortColumn[];
  /** Of the first column; undefined when it is the id. */
  readonly type: SortValueType | undefined;
}

/** Sizes that clients really use get a literal limit, for which PostgreSQL keeps a plan; the others are planned each time. */
const literalLimits = new Set([1, 5, 10, 20, 50, 100, 500, 1000].map((size) => size + 1));

const sqlTypes = { text: 'text collate "C"', integer: 'int', instant: 'timestamptz' } as const;

/**
 * The SQL of a range, and of one row more, which tells whether there are more. Undefined when it can't have a row.
 *
 * The rows come in the order in which they are taken: from the end for `takeLast`. Each part of it is a walk along an index that
 * ends with the limit, so that its cost depends neither on the number of rows nor on the place in the list.
 */
export function keysetPage(source: PageSource, keyset: Keyset<string>, statement: Statement): string | undefined {
  const rows = keyset.limit + 1;
  const limit = literalLimits.has(rows) ? String(rows) : statement.bind(rows, 'bigint');
  const page = new PageSql(source, keyset, statement, limit);
  return source.type === 'instant' ? page.withNulls() : page.range(source.by, keyset);
}

type Bounds = Pick<Keyset<string>, 'after' | 'before'>;

class PageSql {
  readonly #source: PageSource;
  readonly #keyset: Keyset<string>;
  readonly #statement: Statement;
  readonly #limit: string;

  constructor(source: PageSource, keyset: Keyset<string>, statement: Statement, limit: string) {
    this.#source = source;
    this.#keyset = keyset;
    this.#statement = statement;
    this.#limit = limit;
  }

  /** Rows without a value come last either way: they are a range of their own, in the order of their ids. */
  withNulls(): string | undefined {
    const { by, conditions } = this.#source;
    const { after, before, takeLast } = this.#keyset;
    const [key, ...id] = by as [SortColumn, ...SortColumn[]];
    const ranges: string[] = [];
    if (after?.value !== null) {
      const bounds = { after, before: before?.value === null ? undefined : before };
      ranges.push(this.range(by, bounds, `${key.column} is not null`));
    }
    const isGiven = conditions.some(({ givenColumn }) => givenColumn === key.column);
    if (!isGiven && (before === undefined || before.value === null)) {
      const bounds = { after: after?.value === null ? after : undefined, before };
      ranges.push(this.range(id, bounds, `${key.column} is null`));
    }
    if (ranges.length < 2) return ranges[0];
    const nullsLast = `page."${key.property}" is null ${takeLast ? 'desc' : 'asc'}`;
    return `select page.* from (${ranges.map((range) => `(${range})`).join(' union all ')}) as page
      order by ${nullsLast}, ${this.#orderByProperties(by)} limit ${this.#limit}`;
  }

  /**
   * One walk along an index; with a choice of values one for each of them, merged. (`= any` would read either all the rows of
   * these values or, in the order of the list, all the rows between.)
   */
  range(by: readonly SortColumn[], bounds: Bounds, extra?: string): string {
    const { columns, from, conditions } = this.#source;
    const { bind } = this.#statement;
    // For what needs its own plan the planner has the values before it, and knows best where to begin.
    const isWalk = !conditions.some(({ needsOwnPlan }) => needsOwnPlan);
    const choices = conditions.flatMap(({ choice }) => (isWalk && choice !== undefined ? [choice] : []));
    const tests = [
      ...conditions.flatMap((each) => (isWalk && each.choice !== undefined ? [] : [each.sql(bind)])),
      ...choices.map(({ column }, index) => `${column} = choice${index}.value`),
      ...(extra === undefined ? [] : [extra]),
      ...this.#bounds(by, bounds),
    ];
    const order = by.map(({ column }) => `${column} ${this.#direction}`).join(', ');
    const walk = `select ${columns} from ${from} ${where(tests)} order by ${order} limit ${this.#limit}`;
    if (choices.length === 0) return walk;
    const lists = choices.map(({ list }, index) => `unnest(${list(bind)}) as choice${index} (value)`);
    return `select page.* from ${lists.join(' cross join ')} cross join lateral (${walk}) as page
      order by ${this.#orderByProperties(by)} limit ${this.#limit}`;
  }

  get #direction(): string {
    const { sort, takeLast } = this.#keyset;
    return (sort.direction === 'desc') === takeLast ? 'asc' : 'desc';
  }

  #orderByProperties(by: readonly SortColumn[]): string {
    return by.map(({ property }) => `page."${property}" ${this.#direction}`).join(', ');
  }

  #bounds(by: readonly SortColumn[], { after, before }: Bounds): string[] {
    const [later, earlier] = this.#keyset.sort.direction === 'asc' ? ['>', '<'] : ['<', '>'];
    const sides = new Set([
      by.map(({ column }) => column).join(', '),
      by.map(({ column, joined = column }) => joined).join(', '),
    ]);
    const compare = (operator: string, position: Position | undefined): string[] => {
      if (position === undefined) return [];
      const place = this.#place(by, position);
      return [...sides].map((columns) => `(${columns}) ${operator} (${place})`);
    };
    return [...compare(later, after), ...compare(earlier, before)];
  }

  #place(by: readonly SortColumn[], { value, id }: Position): string {
    const { bind } = this.#statement;
    const { type } = this.#source;
    if (by.length === 1 || type === undefined) return bind(id, 'bigint');
    const known: string | number | null = type === 'instant' ? new Date(Number(value)).toISOString() : value;
    return `${bind(known, sqlTypes[type])}, ${bind(id, 'bigint')}`;
  }
}

function where(tests: readonly string[]): string {
  return tests.length === 0 ? '' : `where ${tests.join(' and ')}`;
}

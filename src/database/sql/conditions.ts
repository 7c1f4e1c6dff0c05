import type { Comparison, FilterFields, FilterOf, FilterValue } from '../../domain/filter.ts';
import type { Parameter } from '../../platform/postgres/index.ts';
import type { EntityTable } from './entity-table.ts';
import { type TrigramTest, trigramTests } from './trigrams.ts';

/** By the index that finds the rows which meet it. */
export type Condition = Equality | Range | Search | Filter;

interface Test {
  /** The same for conditions that differ in their value only. */
  readonly template: string;
  readonly value: Parameter;
  /** Its text, in which a placeholder stands for the value. */
  readonly sql: (placeholder: Placeholder) => string;
  /** The only column that it looks at; undefined if it looks at several, or at other tables. */
  readonly column?: string;
  /** A column that must have one of several values: `value` is their list, of this type. */
  readonly choice?: { readonly column: string; readonly type: string; readonly count: number };
  /** To test it on a row takes as long as to pass so many rows: 1 where it isn't given. */
  readonly rowsPerTest?: number;
}

/** The index of each order begins with its column. */
interface Equality extends Test {
  readonly kind: 'equality';
}

/**
 * The index of one order has the matching rows one after another; a walk along that of another order passes some that
 * don't match. How many match varies with the value: plan for each value, never a generic plan.
 */
interface Range extends Test {
  readonly kind: 'range';
  /** The first column of that order; not null in any matching row. */
  readonly orderedBy: string;
}

/** An index of its own has the matching rows, but in no order of pages. */
interface Search extends Test {
  readonly kind: 'search';
  readonly index: OwnIndex;
}

/** No index has them: each row is tested. */
interface Filter extends Test {
  readonly kind: 'filter';
}

export interface OwnIndex {
  /** The column in whose order it finds them, one after another; undefined where it finds all at once. */
  readonly column?: string;
  /** What it finds is what meets this, where that is more than what meets the condition. */
  readonly candidates?: Pick<Test, 'sql'>;
  /** The condition that it can find them, where that depends on the server. */
  readonly isUsable?: string;
}

export function ownIndexOf(condition: Condition): OwnIndex | undefined {
  if (condition.kind === 'search') return condition.index;
  return condition.kind === 'range' ? { column: condition.orderedBy } : undefined;
}

type Placeholder = (type: string) => string;

/**
 * The placeholders of a text that is made once for its template, and run with other values each time.
 *
 * While the text is put together, a value is named by its index in a list that is the same for all statements of the
 * template; only those that the text uses become parameters.
 */
export class Placeholders {
  readonly #used: number[] = [];

  bind(index: number, type: string): string {
    const at = this.#used.indexOf(index);
    return `$${at === -1 ? this.#used.push(index) : at + 1}::${type}`;
  }

  parametersOf(values: readonly (Parameter | undefined)[]): Parameter[] {
    return this.#used.map((index) => values[index] as Parameter);
  }
}

/** The conditions of a filter; undefined when no row can match. */
export type Conditions = readonly Condition[] | undefined;

export function unserved(conditions: Conditions): Conditions {
  return conditions?.map((condition) => ({ ...condition, kind: 'filter' }));
}

/** The conditions, which the index of the column serves, in its order. */
export function servedBy(column: string, conditions: Conditions): Conditions {
  return conditions?.map((condition) => ({ ...condition, kind: 'range', orderedBy: column }));
}

export function oneOf(column: string, values: readonly string[], type: string): Conditions {
  const distinct = [...new Set(values)];
  const [value] = distinct;
  if (value === undefined) return undefined;
  if (distinct.length === 1) return [compared(column, '=', value, type)];
  return [
    {
      kind: 'equality',
      template: `${column} = any`,
      column,
      value: distinct,
      sql: (placeholder) => `${column} = any(${placeholder(`${type}[]`)})`,
      choice: { column, type: `${type}[]`, count: distinct.length },
    },
  ];
}

export function equals(column: string, value: Parameter | Date, type: string): Conditions {
  return [compared(column, '=', value, type)];
}

/** A bound: rows without a value don't match. */
function compares(column: string, operator: '<' | '<=' | '>=', value: Parameter | Date, type: string): Conditions {
  return servedBy(column, [compared(column, operator, value, type)]);
}

/** Letters beyond ASCII belong to words unless the database has the locale C. */
const hasLetters = `show_trgm('\u0436') <> '{}'`;

/** A literal substring, without regard to case: the trigram index on the folded name finds it, in no order. */
function contains(column: string, text: string): Conditions {
  if (text === '') return [];
  const index = trigramTests(text);
  const tests: readonly TrigramTest[] = [
    { operator: 'like', pattern: `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` },
    ...(index?.tests ?? []),
  ];
  const sqlOf = (each: number, placeholder: Placeholder): string =>
    `petstore_fold(${column}) ${tests[each]?.operator} petstore_fold((${placeholder('text[]')})[${each + 1}])`;
  const test: Test = {
    template: `${column} like`,
    column,
    value: tests.map(({ pattern }) => pattern),
    sql: (placeholder) => sqlOf(0, placeholder),
    rowsPerTest: 2.5,
  };
  if (index === undefined) return [{ kind: 'filter', ...test }];
  const sql: Test['sql'] = (placeholder) => index.tests.map((_, each) => sqlOf(each + 1, placeholder)).join(' and ');
  return [{ kind: 'search', index: { candidates: { sql }, ...(!index.isPlain && { isUsable: hasLetters }) }, ...test }];
}

function compared(column: string, operator: string, value: Parameter | Date, type: string): Condition {
  const left = `${column} ${operator}`;
  return {
    kind: 'equality',
    template: left,
    column,
    value: value instanceof Date ? value.toISOString() : value,
    sql: (placeholder) => `${left} ${placeholder(type)}`,
  };
}

export type OwnConditions<Fields extends FilterFields> = {
  readonly [Name in keyof Fields]?: (filter: FilterOf<Fields>, isPerParent: boolean) => Conditions;
};

type ConditionsFor = (column: string, value: FilterValue, type: string) => Conditions;

const conditionsBy: Readonly<Record<Comparison, ConditionsFor>> = {
  contains: (column, value) => contains(column, String(value)),
  oneOf: (column, value, type) => oneOf(column, listOf(value), type),
  equals,
  atLeast: (column, value, type) => compares(column, '>=', value, type),
  atMost: (column, value, type) => compares(column, '<=', value, type),
  before: (column, value, type) => compares(column, '<', value, type),
};

function listOf(value: FilterValue): readonly string[] {
  return typeof value === 'object' && !(value instanceof Date) ? value : [String(value)];
}

/** The conditions of a noun's filter. `isPerParent`: rows are read of certain parents only. */
export function conditionsOf<Fields extends FilterFields>(
  table: EntityTable,
  fields: Fields,
  own: OwnConditions<Fields>,
): (filter: FilterOf<Fields>, isPerParent: boolean) => Conditions {
  const parts = Object.entries<FilterFields[string]>(fields).map(([name, { property, comparison }]) => {
    const ownConditions = own[name];
    if (ownConditions !== undefined) return { name, conditionsOfField: ownConditions };
    if (property === undefined || comparison === undefined) throw new Error(`The filter ${name} needs conditions.`);
    const column = table.column(property);
    // A bound may have more digits than the column keeps.
    const type = table.columnType(property).replace(/\(.*/, '');
    const isTrivial = (value: FilterValue): boolean =>
      comparison === 'oneOf' && table.isAlwaysOneOf(property, listOf(value));
    const conditionsOfField = (filter: FilterOf<Fields>): Conditions => {
      const value: FilterValue = filter[name] ?? '';
      return isTrivial(value) ? [] : conditionsBy[comparison](column, value, type);
    };
    return { name, conditionsOfField };
  });
  return (filter, isPerParent) => {
    const conditions: Condition[] = [];
    for (const { name, conditionsOfField } of parts) {
      if (filter[name] === undefined) continue;
      const found = conditionsOfField(filter, isPerParent);
      if (found === undefined) return undefined;
      conditions.push(...found);
    }
    return conditions;
  };
}

import type { Parameter } from '../../platform/postgres/index.ts';

/** One condition of a filter. */
export interface Condition {
  /** The same for conditions that differ in their value only. */
  readonly template: string;
  readonly value: Parameter;
  /** Stands in for the value among the parameters of a statement. */
  readonly sql: (placeholder: Placeholder) => string;
  /** A column that must have one of several values: `value` is their list, of this type. */
  readonly choice?: { readonly column: string; readonly type: string; readonly count: number };
  /** Its selectivity varies with the value: plan for each value, never a generic plan. */
  readonly needsOwnPlan?: boolean;
  /** No index serves it together with the others, so an index scan may have to skip very many rows. */
  readonly isFilter?: boolean;
  /** A column that is not null in every matching row. */
  readonly notNullColumn?: string;
}

/** A placeholder for a value of this type. */
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

  /** The parameters, of the list's values. */
  parametersOf(values: readonly (Parameter | undefined)[]): Parameter[] {
    return this.#used.map((index) => values[index] as Parameter);
  }
}

/** The conditions of a filter; undefined when no row can match. */
export type Conditions = readonly Condition[] | undefined;

export function all(...parts: Conditions[]): Conditions {
  const conditions: Condition[] = [];
  for (const part of parts) {
    if (part === undefined) return undefined;
    conditions.push(...part);
  }
  return conditions;
}

/** The conditions, with a flag for each. */
export function flagged(conditions: Conditions, flag: 'needsOwnPlan' | 'isFilter'): Conditions {
  return conditions?.map((condition) => ({ ...condition, [flag]: true }));
}

export function oneOf(column: string, values: readonly string[], type: string): Conditions {
  const distinct = [...new Set(values)];
  const [value] = distinct;
  if (value === undefined) return undefined;
  if (distinct.length === 1) return [comparison(column, '=', value, type)];
  return [
    {
      template: `${column} = any`,
      value: distinct,
      sql: (placeholder) => `${column} = any(${placeholder(`${type}[]`)})`,
      choice: { column, type: `${type}[]`, count: distinct.length },
    },
  ];
}

export function equals(column: string, value: Parameter, type: string): Conditions {
  return [comparison(column, '=', value, type)];
}

/** A bound: rows without a value don't match. */
export function compares(column: string, operator: '<' | '<=' | '>=', value: Parameter, type: string): Conditions {
  return [{ ...comparison(column, operator, value, type), needsOwnPlan: true, notNullColumn: column }];
}

/** A literal substring, without regard to case: served by the trigram index on the folded name. */
export function contains(column: string, text: string): Conditions {
  if (text === '') return [];
  return [
    {
      template: `${column} like`,
      value: `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`,
      sql: (placeholder) => `petstore_fold(${column}) like petstore_fold(${placeholder('text')})`,
      needsOwnPlan: true,
    },
  ];
}

function comparison(column: string, operator: string, value: Parameter, type: string): Condition {
  const left = `${column} ${operator}`;
  return { template: left, value, sql: (placeholder) => `${left} ${placeholder(type)}` };
}

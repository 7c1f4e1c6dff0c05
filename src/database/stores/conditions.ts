import { petStatuses, type PetStatus } from '../../domain/pets/pet.entity.ts';
import type { Parameter } from '../prepared-statement.ts';
import type { Bind } from './statement.ts';

/** One thing that a filter asks of a row. The SQL is made when it is known which statement it goes into. */
export interface Condition {
  readonly sql: (bind: Bind) => string;
  /** A column that must have one of several values. */
  readonly choice?: { readonly column: string; readonly list: (bind: Bind) => string };
  /** How many rows fulfil it depends on the value so much that a plan for any value would be a wrong one for most. */
  readonly needsOwnPlan?: boolean;
  /** A column that has a value in every row that fulfils it. */
  readonly givenColumn?: string;
}

/** What a filter asks of a row; undefined when no row can fulfil it. */
export type Conditions = readonly Condition[] | undefined;

export function all(...parts: Conditions[]): Conditions {
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

/** For a join, whose best order depends on how many rows have the value. */
export function plannedAnew(conditions: Conditions): Conditions {
  return conditions?.map((condition) => ({ ...condition, needsOwnPlan: true }));
}

export function oneOf(column: string, values: readonly string[] | undefined, type: string): Conditions {
  if (values === undefined) return [];
  const distinct = [...new Set(values)];
  if (distinct.length === 0) return undefined;
  if (distinct.length === 1) return [{ sql: (bind) => `${column} = ${bind(distinct[0] as string, type)}` }];
  const list = (bind: Bind): string => bind(distinct, `${type}[]`);
  return [{ sql: (bind) => `${column} = any(${list(bind)})`, choice: { column, list } }];
}

export function equals(column: string, value: Parameter | undefined, type: string): Conditions {
  return value === undefined ? [] : [{ sql: (bind) => `${column} = ${bind(value, type)}` }];
}

/** A bound: a row without a value doesn't fulfil it. */
export function compares(
  column: string,
  operator: '<' | '<=' | '>=',
  value: Parameter | undefined,
  type: string,
): Conditions {
  if (value === undefined) return [];
  return [{ sql: (bind) => `${column} ${operator} ${bind(value, type)}`, needsOwnPlan: true, givenColumn: column }];
}

/** A literal substring, without regard to case: served by the trigram index on the folded name. */
export function contains(column: string, text: string | undefined): Conditions {
  if (text === undefined || text === '') return [];
  const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return [
    { sql: (bind) => `petstore_fold(${column}) like petstore_fold(${bind(pattern, 'text')})`, needsOwnPlan: true },
  ];
}

/** Such a choice leaves nothing out, so that it isn't worth a condition. */
export function isEveryStatus(values: readonly PetStatus[] | undefined): boolean {
  return petStatuses.every((status) => values?.includes(status));
}

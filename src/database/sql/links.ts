import type { EntityMetadata } from '@mikro-orm/core';

import { type Statement, statementOf } from '../../platform/postgres/index.ts';
import { type Conditions, oneOf } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';

/**
 * Links of two nouns, as the rows of one of them have them: the pivot table of a `manyToMany`. It has an index that
 * begins with either column and ends with the other one.
 */
export interface Links {
  readonly table: string;
  /** The columns that name the row itself, and the other one. */
  readonly own: string;
  readonly other: string;
}

/** The links of the rows that have the property. */
export function linksOf({ properties }: Pick<EntityMetadata, 'properties'>, property: string): Links {
  const { pivotTable: table, joinColumns = [], inverseJoinColumns = [] } = properties[property] ?? {};
  const [[own], [other]] = [joinColumns, inverseJoinColumns];
  if (table === undefined || own === undefined || other === undefined) throw new Error(`${property} is no manyToMany.`);
  return { table, own, other };
}

/** The same links, as the other rows have them. */
export function reversed({ table, own, other }: Links): Links {
  return { table, own: other, other: own };
}

/** The condition that a row is linked to one of those with these ids. */
export function isLinked({ table, own, other }: Links, row: EntityTable, ids: readonly string[]): Conditions {
  const key = row.column(row.keyProperty);
  return oneOf(`${table}.${other}`, ids, 'bigint')?.map(({ template, value, sql }) => ({
    template,
    value,
    sql: (placeholder) => `exists (select from ${table} where ${table}.${own} = ${key} and ${sql(placeholder)})`,
    needsOwnPlan: true,
    servedOrder: null,
    ownIndex: { column: key },
  }));
}

/** Statements that link two rows, each pair once, and take the link away; they return a row for a change. */
export function linkWrites({ table, own, other }: Links): Readonly<Record<'link' | 'unlink', Statement<true>>> {
  return {
    link: write(`insert into ${table} (${own}, ${other}) values ($1::bigint, $2::bigint) on conflict do nothing`),
    unlink: write(`delete from ${table} where ${own} = $1::bigint and ${other} = $2::bigint`),
  };
}

function write(text: string): Statement<true> {
  return statementOf(`${text} returning 1`, 1, () => true, 'write');
}

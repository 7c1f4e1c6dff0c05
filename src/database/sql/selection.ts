import type { MetadataStorage } from '@mikro-orm/core';

import type { Id } from '../../domain/id.ts';
import { type NounName, nouns, referencesOf } from '../../domain/nouns.ts';
import { readAlone, UnreadableRow } from '../../platform/postgres/index.ts';
import { domainFailureOf } from '../domain-failure.ts';
import { type Column, EntityTable } from './entity-table.ts';
import type { ColumnType } from './value-types.ts';

/** A row of another table that belongs to a row: at most one, found by its primary key. */
export interface Relation {
  readonly table: EntityTable;
  /** The condition that joins it, under the name of the relation. */
  readonly on: string;
  /** The property that names it, where the row does. */
  readonly property?: string;
}

export interface Selection<Row> {
  readonly columns: string;
  readonly columnCount: number;
  /** The names of those columns that are texts. */
  readonly texts: readonly string[];
  readonly joins: string;
  /** Takes the values in the order of `columns`; further values are ignored. */
  readonly decode: (fields: readonly (string | null)[]) => Row;
}

/** A related row becomes a property: undefined when there is none, or the error of one that can't be read. */
export function selectionOf<Row>(
  table: EntityTable,
  relations: Readonly<Record<string, Relation>>,
  include: readonly string[],
): Selection<Row> {
  const list = new SelectList();
  const indexes = table.columns.map(({ property, read, type }) => list.add(read(table.name), property, type));
  const decodeRow = decoderOf(table, indexes);
  const decoders = include.map((name) => relatedDecoder(name, (relations[name] as Relation).table, list));
  return {
    columns: list.expressions.join(', '),
    columnCount: list.expressions.length,
    texts: list.texts,
    joins: include.map((name) => joinOf(name, relations[name] as Relation)).join(' '),
    decode: (fields) => {
      const row = decodeRow(fields);
      for (const { name, keyAt, decode } of decoders) row[name] = fields[keyAt] === null ? undefined : decode(fields);
      return row as Row;
    },
  };
}

/** `offset 0` keeps the planner from a merge join, which reads all rows before the page as well. */
function joinOf(name: string, { table, on }: Relation): string {
  return `left join lateral (select * from ${table.name} as ${name} where ${on} offset 0) as ${name} on true`;
}

class SelectList {
  readonly expressions: string[] = [];
  readonly texts: string[] = [];
  readonly #indexes = new Map<string, number>();

  /** Selects the expression; returns its index. */
  add(expression: string, name: string, { isText }: ColumnType): number {
    const index = this.expressions.push(`${expression} as "${name}"`) - 1;
    if (isText === true) this.texts.push(name);
    this.#indexes.set(expression, index);
    return index;
  }

  /** Returns the index of an expression, which may be selected already. */
  addOnce(expression: string, name: string, type: ColumnType): number {
    return this.#indexes.get(expression) ?? this.add(expression, name, type);
  }
}

/** What its owner has too is selected once: a pet's status is also that of its stock. */
function relatedDecoder(name: string, table: EntityTable, list: SelectList) {
  const { columns, keyProperty } = table;
  const indexes = columns.map(({ property, read, type }) => {
    const [expression, column] = [read(name), `${name}.${property}`];
    // The key shows whether there is a related row, so it must be its own.
    return property === keyProperty ? list.add(expression, column, type) : list.addOnce(expression, column, type);
  });
  const read = readAlone(decoderOf(table, indexes));
  const decode = (fields: readonly (string | null)[]): unknown => {
    const row = read(fields);
    return row instanceof UnreadableRow ? domainFailureOf(row) : row;
  };
  return { name, keyAt: keyIndex(table, indexes), decode };
}

function keyIndex({ columns, keyProperty }: EntityTable, indexes: readonly number[]): number {
  return indexes[columns.findIndex(({ property }) => property === keyProperty)] as number;
}

/** Throws UnreadableRow. */
function decoderOf(
  table: EntityTable,
  indexes: readonly number[],
): (fields: readonly (string | null)[]) => Record<string, unknown> {
  const { columns } = table;
  return (fields) => {
    const row = table.newRow();
    for (let index = 0; index < columns.length; index += 1) {
      const { property, parse, isKnown, isNullable } = columns[index] as Column;
      const text = fields[indexes[index] as number] as string | null;
      const value = text === null || parse === undefined ? text : parse(text);
      if (value === null ? !isNullable : isKnown?.(value) === false) {
        throw new UnreadableRow(table.name, fields[keyIndex(table, indexes)] as Id, property, value);
      }
      row[property] = value;
    }
    return row;
  };
}

/** The row whose property names the table's row: `InventoryItem.petId`, as the pet's `inventory`. */
export function hasOne(table: EntityTable, name: string, other: EntityTable, property: string): Relation {
  return { table: other, on: `${name}.${other.columnName(property)} = ${table.column(table.keyProperty)}` };
}

/** The rows that a noun's properties name, by the table of nouns: `category` for `Pet.categoryId`. */
export function namedRelations<Name extends string>(
  metadata: MetadataStorage,
  noun: NounName,
  table: EntityTable,
): Readonly<Record<Name, Relation>> {
  const relations = Object.entries(referencesOf(noun)).map(([property, other]) => {
    const name = property.replace(/Id$/, '');
    const named = new EntityTable(metadata.get<object>(nouns[other].entity));
    const on = `${name}.${named.columnName(named.keyProperty)} = ${table.column(property)}`;
    return [name, { table: named, property, on }];
  });
  return Object.fromEntries(relations) as Readonly<Record<Name, Relation>>;
}

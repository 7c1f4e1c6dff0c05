import { type Constructor, type EntityMetadata, type EntityProperty, ReferenceKind } from '@mikro-orm/core';

import type { Parameter } from '../../platform/postgres/index.ts';
import type { SortColumn } from './keyset-page.ts';
import { type ColumnType, columnTypeOf } from './value-types.ts';

/** A property of an entity, as a table has it. */
export interface Column {
  readonly property: string;
  readonly type: ColumnType;
  /** The expression that reads it, of the table with this name or alias. */
  readonly read: (table: string) => string;
  /** Converts the result of `read` to the property; undefined when they are the same. */
  readonly parse: ColumnType['parse'];
  /** Whether this version knows the value; undefined when it knows all but null. */
  readonly isKnown: ((value: unknown) => boolean) | undefined;
  readonly isNullable: boolean;
  /** The condition that this version can read it; undefined when it always can. */
  readonly isReadable: (table: string) => string | undefined;
}

type TableMetadata = Pick<EntityMetadata, 'class' | 'properties' | 'tableName' | 'primaryKeys'>;

/** Expressions for the properties that are not columns of the table itself. */
export type ComputedColumns = Readonly<Record<string, (table: string) => string>>;

/** Columns, their types and the references to other tables come from the entity's metadata. */
export class EntityTable {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly keyProperty: string;
  /** Whether reading a row reads other tables. */
  readonly isComputed: boolean;
  readonly #properties: Readonly<Record<string, EntityProperty>>;
  readonly #entity: Constructor<Record<string, unknown>>;

  /** Rows are read without the properties in `unread`. */
  constructor(metadata: TableMetadata, computed: ComputedColumns = {}, unread: readonly string[] = []) {
    this.#properties = metadata.properties;
    this.#entity = metadata.class as Constructor<Record<string, unknown>>;
    this.name = metadata.tableName;
    this.keyProperty = metadata.primaryKeys[0] as string;
    this.isComputed = Object.keys(computed).length > 0;
    this.columns = Object.values(this.#properties)
      .filter(({ name, kind }) => kind !== ReferenceKind.MANY_TO_MANY && !unread.includes(name))
      .map((property) => columnOf(property, computed[property.name]));
  }

  /** An instance of the entity, without values. */
  newRow(): Record<string, unknown> {
    return new this.#entity();
  }

  /** The name of a property's column, for statements that write. */
  columnName(property: string): string {
    return this.#property(property).fieldNames[0] as string;
  }

  columnType(property: string): string {
    return this.#property(property).columnTypes[0] as string;
  }

  /** A property's column with the table before it. */
  column(property: string): string {
    return `${this.name}.${this.columnName(property)}`;
  }

  isAlwaysOneOf(property: string, values: readonly unknown[]): boolean {
    const { items, nullable } = this.#property(property);
    return nullable !== true && items?.every((item) => values.includes(item)) === true;
  }

  /** The columns of an order. */
  by(...properties: string[]): readonly SortColumn[] {
    return properties.map((property) => this.sortColumn(property));
  }

  sortColumn(property: string): SortColumn {
    const type = columnTypeOf(this.columnType(property));
    return { column: this.column(property), property, type, isNullable: this.#property(property).nullable === true };
  }

  /** A row that this version can't read must not be changed: that would be committed before it is read. */
  areReadable(changed: readonly string[]): string[] {
    const others = this.columns.filter(({ property }) => !changed.includes(property));
    return others.flatMap(({ isReadable }) => isReadable(this.name) ?? []);
  }

  parameter(property: string, value: unknown): Parameter {
    const { parameter } = columnTypeOf(this.columnType(property));
    return value === null || value === undefined || parameter === undefined ? (value as Parameter) : parameter(value);
  }

  #property(name: string): EntityProperty {
    const property = this.#properties[name];
    if (property === undefined) throw new Error(`${this.name} has no property ${name}.`);
    return property;
  }
}

function columnOf(entityProperty: EntityProperty, computed?: ComputedColumns[string]): Column {
  const { name, fieldNames, columnTypes, nullable, items } = entityProperty;
  const type = columnTypeOf(columnTypes[0] as string);
  const own = computed ?? ((table: string) => `${table}.${String(fieldNames[0])}`);
  return {
    property: name,
    type,
    read: type.read === undefined ? own : (table) => type.read?.(own(table)) as string,
    parse: type.parse,
    isKnown: isOneOf(items) ?? type.isKnown,
    isNullable: nullable === true,
    isReadable: (table) => readableCondition(entityProperty, type, own(table)),
  };
}

/** The condition in SQL for `isKnown` and `isNullable` of a column. */
function readableCondition(
  { columnTypes: [name = ''], items, nullable }: EntityProperty,
  type: ColumnType,
  column: string,
) {
  const list = items?.map((item) => `'${item}'`).join(', ');
  let known = type.known?.(column);
  if (list !== undefined) known = name.endsWith('[]') ? `${column} <@ array[${list}]` : `${column} in (${list})`;
  if (nullable !== true) return known ?? `${column} is not null`;
  return known && `(${column} is null or ${known})`;
}

/** Of an enumeration, or a list of its values. */
function isOneOf(items: readonly unknown[] | undefined): Column['isKnown'] {
  if (items === undefined) return undefined;
  const known = new Set(items);
  return (value) => (Array.isArray(value) ? value.every((each) => known.has(each)) : known.has(value));
}

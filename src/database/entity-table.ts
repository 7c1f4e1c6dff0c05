import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';

/** A table of the store, as its entity tells it. */
interface Table<Row> {
  readonly name: string;
  /** The name of a property's column, for statements that write. */
  readonly field: (property: keyof Row & string) => string;
  /** The same with the table before it, for statements that read from several. */
  readonly column: (property: keyof Row & string) => string;
  columns<Property extends keyof Row & string>(...properties: Property[]): Record<Property, string>;
  /** The columns of an order. */
  by(...properties: (keyof Row & string)[]): readonly { readonly column: string; readonly property: string }[];
}

export function tableOf<Row extends object>({ tableName: name, properties }: EntityMetadata<Row>): Table<Row> {
  const field = (property: string): string =>
    String((properties as unknown as Readonly<Record<string, EntityProperty>>)[property]?.fieldNames[0]);
  const column = (property: string): string => `${name}.${field(property)}`;
  return {
    name,
    field,
    column,
    columns: <Property extends keyof Row & string>(...names: Property[]) =>
      Object.fromEntries(names.map((property) => [property, column(property)])) as Record<Property, string>,
    by: (...names) => names.map((property) => ({ column: column(property), property })),
  };
}

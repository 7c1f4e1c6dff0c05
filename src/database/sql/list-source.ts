import type { Comparison, FilterFields, FilterOf } from '../../domain/filter.ts';
import type { Sorting } from '../../domain/page.ts';
import type { Parameter } from '../../platform/postgres/index.ts';
import { all, compares, contains, equals, oneOf, type Conditions } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';
import type { Relation } from './selection.ts';
import type { Source } from './table-reads.ts';

/** The conditions of those fields whose SQL is particular to the noun. */
type OwnConditions<Fields extends FilterFields> = {
  readonly [Name in keyof Fields]?: (
    value: ReturnType<Fields[Name]['rule']>,
    filter: FilterOf<Fields>,
    isPerParent: boolean,
  ) => Conditions;
};

const conditionsBy: Readonly<Record<Comparison, (column: string, value: never, type: string) => Conditions>> = {
  contains,
  oneOf,
  equals: (column, value: Parameter | Date, type) => equals(column, parameterOf(value), type),
  atLeast: (column, value: Parameter | Date, type) => compares(column, '>=', parameterOf(value), type),
  atMost: (column, value: Parameter | Date, type) => compares(column, '<=', parameterOf(value), type),
  before: (column, value: Parameter | Date, type) => compares(column, '<', parameterOf(value), type),
};

function parameterOf(value: Parameter | Date): Parameter {
  return value instanceof Date ? value.toISOString() : value;
}

/** The list of a noun in SQL: its table, the columns of its orders, and the conditions of its filter. */
export function listSource<
  Row extends object,
  Fields extends FilterFields,
  SortField extends string,
  RelationName extends string = never,
>(
  table: EntityTable<never>,
  { sorting, filter }: { readonly sorting: Sorting<Row, SortField>; readonly filter: Fields },
  relations: Readonly<Record<RelationName, Relation>>,
  own: OwnConditions<Fields> = {},
): Source<Row, FilterOf<Fields>, SortField, RelationName> {
  const id = table.keyProperty;
  const by = Object.entries<Sorting<Row, SortField>['keys'][SortField]>(sorting.keys).map(([field, key]) => [
    field,
    key === null ? table.by(id) : table.by(key.property, id),
  ]);
  return {
    sorting,
    table,
    relations,
    from: table.name,
    id: table.column(id),
    by: Object.fromEntries(by) as Source<Row, never, SortField>['by'],
    conditions: conditionsOf(table, filter, own),
  };
}

function conditionsOf<Fields extends FilterFields>(
  table: EntityTable<never>,
  fields: Fields,
  own: OwnConditions<Fields>,
): Source<never, FilterOf<Fields>, never>['conditions'] {
  const parts = Object.entries<FilterFields[string]>(fields).map(([name, { property, comparison }]) => {
    const ownConditions = own[name];
    if (ownConditions !== undefined) return { name, conditionsFor: ownConditions };
    if (property === undefined || comparison === undefined) throw new Error(`The filter ${name} needs conditions.`);
    const column = table.column(property);
    // A bound may have more digits than the column keeps.
    const type = table.columnType(property).replace(/\(.*/, '');
    const general = (value: never): Conditions =>
      comparison === 'oneOf' && table.isAlwaysOneOf(property, value)
        ? []
        : conditionsBy[comparison](column, value, type);
    return { name, conditionsFor: general };
  });
  return (filter, isPerParent) =>
    all(
      ...parts.map(({ name, conditionsFor }) => {
        const value: unknown = filter[name];
        return value === undefined ? [] : conditionsFor(value as never, filter, isPerParent);
      }),
    );
}

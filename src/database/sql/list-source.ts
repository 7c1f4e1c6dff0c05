import type { FilterFields, FilterOf } from '../../domain/filter.ts';
import type { Sorting } from '../../domain/page.ts';
import { conditionsOf, type OwnConditions } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';
import type { Relation } from './selection.ts';
import type { Source } from './table-reads.ts';

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
    by: Object.fromEntries(by) as Source<Row, never, SortField>['by'],
    conditions: conditionsOf(table, filter, own),
  };
}

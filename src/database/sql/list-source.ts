import type { List } from '../../domain/page.ts';
import { conditionsOf, type OwnConditions } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';
import type { Relation } from './selection.ts';
import type { Source } from './table-reads.ts';

/** Throws for an order that isn't nullable as its column is: the rows without a value would be missing. */
export function listSource<Of extends List, RelationName extends string = never>(
  table: EntityTable,
  list: Of,
  relations: Readonly<Record<RelationName, Relation>>,
  own: OwnConditions<Of['filter']> = {},
): Source<Of, RelationName> {
  const id = table.keyProperty;
  const by = Object.entries(list.sorting.keys).map(([field, key]) => {
    if (key === null) return [field, table.by(id)];
    if (table.sortColumn(key.property).isNullable !== (key.isNullable === true))
      throw new TypeError(`The order ${field} of ${list.sorting.kind} has to be nullable as ${key.property} is.`);
    return [field, table.by(key.property, id)];
  });
  return {
    list,
    table,
    relations,
    from: table.name,
    by: Object.fromEntries(by) as Source<Of>['by'],
    conditions: conditionsOf<Of['filter']>(table, list.filter, own),
  };
}

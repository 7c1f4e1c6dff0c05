import type { MetadataStorage } from '@mikro-orm/core';

import { nouns, referencesOf, type NounName } from '../../domain/nouns.ts';
import { EntityTable } from './entity-table.ts';
import { namedBy, type Relation } from './selection.ts';

/** The rows that a noun names, by the table of nouns: `category` for its `categoryId`. */
export function namedRelations<Name extends string>(
  metadata: MetadataStorage,
  noun: NounName,
  table: EntityTable<never>,
): Readonly<Record<Name, Relation>> {
  const relations = Object.entries(referencesOf(noun)).map(([property, other]) => {
    const name = property.replace(/Id$/, '');
    const named = new EntityTable<never>(metadata.get(nouns[other].entity as never));
    return [name, namedBy(table, property as never, name, named)];
  });
  return Object.fromEntries(relations) as Readonly<Record<Name, Relation>>;
}

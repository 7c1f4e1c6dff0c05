import { Category, categoryRepresentation } from './categories/category.entity.ts';
import { categoryList } from './categories/category.store.ts';
import type { Id } from './id.ts';
import { InventoryItem, inventoryItemRepresentation } from './inventory/inventory-item.entity.ts';
import { inventoryList } from './inventory/inventory-item.store.ts';
import { Order, orderRepresentation } from './orders/order.entity.ts';
import { orderList } from './orders/order.store.ts';
import type { List } from './page.ts';
import { Pet, petRepresentation } from './pets/pet.entity.ts';
import { petList } from './pets/pet.store.ts';
import { versionOf } from './version.ts';

/** A resource of the store, for everything that treats all of them alike. */
export interface Noun<Row = never> extends List<Row> {
  readonly entity: new () => object;
  /** The fields that clients see, in REST's form: the version covers them. */
  readonly representation: (row: Row) => object;
  /** Its name in GraphQL and in the OpenAPI document. */
  readonly typeName: string;
  /** The path of its list, and of one with its id behind it. */
  readonly path: string;
  /** The name of its store, its service and its list. */
  readonly collection: string;
  /** The properties that name a row of another noun. */
  readonly references: Readonly<Record<string, string>>;
  /** Of the longest one as JSON text. */
  readonly maxBytes: number;
  /** The changes that its events name: `created` is `pet.created`. Every noun has events. */
  readonly changes: readonly [string, ...string[]];
}

const writes = ['created', 'updated', 'deleted'] as const;

/**
 * The resources of the store. From this table derive: the entities that MikroORM knows, node ids, loaders, types and
 * subjects of events, the paths of the OpenAPI document, and what the tests walk over.
 */
export const nouns = {
  pet: {
    ...petList,
    entity: Pet,
    representation: petRepresentation,
    typeName: 'Pet',
    path: '/pets',
    collection: 'pets',
    references: { categoryId: 'category' },
    maxBytes: 1_150,
    changes: writes,
  },
  category: {
    ...categoryList,
    entity: Category,
    representation: categoryRepresentation,
    typeName: 'Category',
    path: '/categories',
    collection: 'categories',
    references: {},
    maxBytes: 9_200,
    changes: writes,
  },
  order: {
    ...orderList,
    entity: Order,
    representation: orderRepresentation,
    typeName: 'Order',
    path: '/store/orders',
    collection: 'orders',
    references: { petId: 'pet' },
    maxBytes: 150,
    changes: ['created', 'updated', 'cancelled'],
  },
  inventory: {
    ...inventoryList,
    entity: InventoryItem,
    representation: inventoryItemRepresentation,
    typeName: 'InventoryItem',
    path: '/inventory',
    collection: 'inventory',
    references: { petId: 'pet' },
    maxBytes: 100,
    changes: writes,
  },
} as const satisfies Readonly<Record<string, Noun>>;

type Nouns = typeof nouns;
export type NounName = keyof Nouns;
export type NodeTypeName = Nouns[NounName]['typeName'];
export type CollectionOf<Name extends NounName> = Nouns[Name]['collection'];
export type RowOf<Name extends NounName> = InstanceType<Nouns[Name]['entity']>;

export type EventTypeOf<Name extends NounName> = Nouns[Name] extends { readonly changes: readonly (infer Change)[] }
  ? `${Name}.${Change & string}`
  : never;

export const nounNames = Object.keys(nouns) as NounName[];

/** The properties by which a noun's rows are listed. */
export type ReferenceOf<Name extends NounName> = keyof Nouns[Name]['references'] & string;
/** The noun whose rows such a property names. */
export type ReferredBy<Name extends NounName, Reference extends ReferenceOf<Name>> = Extract<
  Nouns[Name]['references'][Reference],
  NounName
>;

export function referencesOf(noun: NounName): Readonly<Record<string, NounName>> {
  return nouns[noun].references;
}

export function referredBy<Name extends NounName, Reference extends ReferenceOf<Name>>(
  noun: Name,
  reference: Reference,
): ReferredBy<Name, Reference> {
  return referencesOf(noun)[reference] as ReferredBy<Name, Reference>;
}

/** The same table, each noun with the type of its rows. */
const byName: { readonly [Name in NounName]: Noun<RowOf<Name>> } = nouns;

export function idOf<Name extends NounName>(noun: Name, row: RowOf<Name>): Id {
  return byName[noun].sorting.idOf(row);
}

/** The fields that clients see, in REST's form. */
export function representationOf<Name extends NounName>(noun: Name, row: RowOf<Name>): object {
  return byName[noun].representation(row);
}

/** The version of the row; REST's entity tag is the same, in quotes. */
export function versionOfRow<Name extends NounName>(noun: Name, row: RowOf<Name>): string {
  return versionOf(representationOf(noun, row));
}

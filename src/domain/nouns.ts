import { categoryKind, CategoryService } from './categories/category.service.ts';
import type { Id } from './id.ts';
import { inventoryKind, InventoryService } from './inventory/inventory.service.ts';
import type { NounKind } from './noun.service.ts';
import { orderKind, OrderService } from './orders/order.service.ts';
import { petKind, PetService } from './pets/pet.service.ts';
import type { Stores } from './stores.ts';
import { versionOf } from './version.ts';

/** A resource of the store, for everything that treats all of them alike. */
interface Noun<Row> extends NounKind<Row> {
  /** Its name in GraphQL and in the OpenAPI document. */
  readonly typeName: string;
  /** The path of its list, and of one with its id behind it. */
  readonly path: string;
  /** The name of its store, its service and its list. */
  readonly collection: string;
  readonly service: new (stores: Stores) => object;
  /** The properties that name a row of another noun. */
  readonly references: Readonly<Record<string, string>>;
  /** Of the longest one as JSON text. */
  readonly maxBytes: number;
  /** The changes that its events name: `created` is `pet.created`. Every noun has events. */
  readonly changes: readonly [string, ...string[]];
}

const writes = ['created', 'updated', 'deleted'] as const;

/**
 * The resources of the store. From this table derive: the order of locks, the entities that MikroORM knows, node ids,
 * loaders, types and subjects of events, the paths of the OpenAPI document, and what the tests walk over.
 */
export const nouns = {
  pet: {
    ...petKind,
    typeName: 'Pet',
    path: '/pets',
    collection: 'pets',
    service: PetService,
    references: { categoryId: 'category' },
    maxBytes: 1_150,
    changes: writes,
  },
  category: {
    ...categoryKind,
    typeName: 'Category',
    path: '/categories',
    collection: 'categories',
    service: CategoryService,
    references: {},
    maxBytes: 9_200,
    changes: writes,
  },
  order: {
    ...orderKind,
    typeName: 'Order',
    path: '/store/orders',
    collection: 'orders',
    service: OrderService,
    references: { petId: 'pet' },
    maxBytes: 150,
    changes: ['created', 'updated', 'cancelled'],
  },
  inventory: {
    ...inventoryKind,
    typeName: 'InventoryItem',
    path: '/inventory',
    collection: 'inventory',
    service: InventoryService,
    references: { petId: 'pet' },
    maxBytes: 100,
    changes: writes,
  },
} as const satisfies Readonly<Record<string, Noun<never>>>;

type Nouns = typeof nouns;
export type NounName = keyof Nouns;
export type NodeTypeName = Nouns[NounName]['typeName'];
export type CollectionOf<Name extends NounName> = Nouns[Name]['collection'];
export type RowOf<Name extends NounName> = InstanceType<Nouns[Name]['entity']>;

/** The services by their collections. */
export type NounServices = {
  readonly [Name in NounName as CollectionOf<Name>]: InstanceType<Nouns[Name]['service']>;
};

/** The types of a noun's events. */
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

/** The properties of a noun that name a row of another. */
export function referencesOf(noun: NounName): Readonly<Record<string, NounName>> {
  return nouns[noun].references;
}

/** The noun whose rows a property names. */
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

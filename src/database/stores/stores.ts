import type { MetadataStorage } from '@mikro-orm/core';

import type { Caller } from '../../platform/callers/index.ts';
import { ApiKeyChange } from '../../domain/access/api-key-change.entity.ts';
import { ApiKeyUsage } from '../../domain/access/api-key-usage.entity.ts';
import { ApiKey } from '../../domain/access/api-key.entity.ts';
import { IdempotencyRecord } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { FilterFields } from '../../domain/filter.ts';
import { nounNames, nouns, type NounName } from '../../domain/nouns.ts';
import type { NounStore } from '../../domain/store.ts';
import { EntityTable } from '../sql/entity-table.ts';
import { listSource } from '../sql/list-source.ts';
import { namedRelations } from '../sql/selection.ts';
import { TableReads } from '../sql/table-reads.ts';
import { TableStore } from '../sql/table-store.ts';
import { TableWrites } from '../sql/table-writes.ts';
import type { SharedClock } from '../../platform/remote-clock.ts';
import type { Stores } from '../../domain/stores.ts';
import { createApiKeyStore } from './api-key.store.ts';
import { createEventStore } from './event.store.ts';
import { createIdempotencyStore } from './idempotency.store.ts';
import { createInventoryStore } from './inventory-item.store.ts';
import { createOrderStore } from './order.store.ts';
import { createPetStore } from './pet.store.ts';
import type { Session, TransactionKind } from '../../platform/postgres/index.ts';

/** The entities of all stores, for MikroORM. */
export const entities = [
  ApiKey,
  ApiKeyChange,
  ApiKeyUsage,
  IdempotencyRecord,
  ...Object.values(nouns).map(({ entity }) => entity),
];

/** The stores of the process, for whom they are used. */
export interface CallerStores {
  for(caller: Caller): Stores;
}

type StoreName = Exclude<keyof Stores, 'transaction' | 'clock'>;
type StoreMaker<Name extends StoreName> = (session: Session) => Stores[Name];
/** A store with more methods than every noun's can't be made of the table of nouns. */
type NeedsOwnMaker<Name extends StoreName> = keyof Stores[Name] extends keyof NounStore<object, FilterFields, string>
  ? never
  : Name;
type OwnMakers = { readonly [Name in StoreName as NeedsOwnMaker<Name>]: StoreMaker<Name> } & {
  readonly [Name in StoreName]?: StoreMaker<Name>;
};

/**
 * Makes the statements of all stores, once, and returns their stores in a session, which run all of theirs there: those
 * of a transaction never use another connection.
 */
export function createStores(metadata: MetadataStorage, clock: SharedClock): (session: Session) => Stores {
  const own: OwnMakers = {
    apiKeys: createApiKeyStore(metadata),
    events: createEventStore(metadata),
    idempotency: createIdempotencyStore(metadata),
    inventory: createInventoryStore(metadata),
    orders: createOrderStore(metadata),
    pets: createPetStore(metadata),
  };
  const plain = nounNames.filter((noun) => !(nouns[noun].collection in own));
  const makers = {
    ...own,
    ...Object.fromEntries(plain.map((noun) => [nouns[noun].collection, storeOf(metadata, noun)])),
  };

  /** Each store is made where it is used: it is as light as this one. */
  class MadeStores extends SessionStores {}
  for (const [name, maker] of Object.entries(makers)) {
    Object.defineProperty(MadeStores.prototype, name, {
      get(this: MadeStores) {
        return maker(this.session);
      },
    });
  }
  return (session) => new MadeStores(session, clock) as object as Stores;
}

/** The store of a noun with nothing of its own. */
function storeOf(metadata: MetadataStorage, noun: NounName): (session: Session) => object {
  const table = new EntityTable<never>(metadata.get(nouns[noun].entity as never));
  const relations = namedRelations(metadata, noun, table);
  const list = nouns[noun] as object as Parameters<typeof listSource<object, FilterFields, string>>[1];
  const reads = new TableReads(listSource<object, FilterFields, string, string>(table, list, relations));
  const writes = new TableWrites<object, object, string>(table, relations);
  return (session) => new TableStore(session, reads, writes);
}

class SessionStores {
  readonly session: Session;
  readonly clock: SharedClock;

  constructor(session: Session, clock: SharedClock) {
    this.session = session;
    this.clock = clock;
  }

  transaction<T>(work: (stores: Stores) => Promise<T>, kind?: TransactionKind): Promise<T> {
    return this.session.transaction((inside) => work(this.#in(inside)), kind);
  }

  /** Itself, inside a transaction. */
  #in(session: Session): Stores {
    const Made = this.constructor as typeof SessionStores;
    return (session === this.session ? this : new Made(session, this.clock)) as object as Stores;
  }
}

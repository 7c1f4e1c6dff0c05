import type { FastifyRequest } from 'fastify';

import type { Principal } from '../domain/access/principal.ts';
import type { Services } from '../domain/services.ts';
import type { Stores } from '../domain/stores.ts';
import type { Turns } from '../platform/executor/index.ts';
import { Loaders } from './loaders.ts';
import type { NestedQuota } from './nested-quota.ts';
import type { AtomicFields } from './safe-writes/atomic-writes.ts';
import type { KeyedWrites } from './safe-writes/keyed-writes.ts';

interface ContextOptions {
  readonly keyed?: KeyedWrites | undefined;
  readonly atomic?: AtomicFields | undefined;
}

/** The values that the resolvers of one request share. */
export class GraphQLContext implements Turns {
  /** The stores of the caller, or inside a transaction. */
  readonly stores: Stores;
  /** Made from these stores. */
  readonly services: Services;
  readonly request: Pick<
    FastifyRequest,
    'log' | 'raw' | 'headers' | 'principal' | 'caller' | 'memory' | 'meter' | 'operation' | 'graphql'
  >;
  readonly principal: Principal;
  /** Present with an Idempotency-Key. */
  readonly keyed: KeyedWrites | undefined;
  /** Present in an operation with `@atomic`. */
  readonly atomic: AtomicFields | undefined;
  readonly #nestedQuota: NestedQuota;
  loaders: Loaders;

  constructor(
    stores: Stores,
    services: Services,
    nestedQuota: NestedQuota,
    request: GraphQLContext['request'],
    { keyed, atomic }: ContextOptions = {},
  ) {
    this.stores = stores;
    this.services = services;
    this.request = request;
    this.principal = request.principal;
    this.keyed = keyed;
    this.atomic = atomic;
    this.#nestedQuota = nestedQuota;
    this.loaders = new Loaders(services, nestedQuota, request.principal);
  }

  /** The execution holds so many bytes; see `Turns`. Rejects when its client has disconnected. */
  turn(bytes: number): Promise<void> | undefined {
    const { caller, memory } = this.request;
    const turn = caller.turn();
    if (turn !== undefined) memory.holdAtLeast(bytes);
    return turn;
  }

  /** The context of the same request on the stores of a transaction. */
  inside(stores: Stores, atomic?: AtomicFields): GraphQLContext {
    return new GraphQLContext(stores, this.services.inside(stores), this.#nestedQuota, this.request, { atomic });
  }

  /** The same context, in which the payloads of an operation with `@atomic` are shown. */
  showing(atomic: AtomicFields): GraphQLContext {
    return new GraphQLContext(this.stores, this.services, this.#nestedQuota, this.request, { atomic });
  }

  /** Replaces the loaders afterwards: they cache changed rows, and root mutations run one after another. */
  async mutate<T>(work: (services: Services) => Promise<T>): Promise<T> {
    try {
      return await work(this.services);
    } finally {
      this.loaders = new Loaders(this.services, this.#nestedQuota, this.principal);
    }
  }
}

import { DirectiveLocation, GraphQLDirective, type OperationDefinitionNode } from 'graphql';

import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { PayloadCodec } from './stored-payload.ts';

export const atomicDirective = new GraphQLDirective({
  name: 'atomic',
  description:
    'Carries out all root fields of the mutation in one transaction, in their order, or none of them. When one fails, all are null: it with its own error, the others with ABORTED. At most 20 root fields.',
  locations: [DirectiveLocation.MUTATION],
});

export function isAtomic({ operation }: { readonly operation: OperationDefinitionNode }): boolean {
  return operation.directives?.some(({ name }) => name.value === atomicDirective.name) === true;
}

/** The stored payload of a field. */
type Replay = (key: string, codec: PayloadCodec) => object;

/** The root fields of one try of an operation with `@atomic`, or of its replay. */
export class AtomicWrites {
  /** There is an Idempotency-Key, so payloads are collected to be stored. */
  readonly isKeyed: boolean;
  readonly payloads = new Map<string, StoredResult>();
  readonly #replay: Replay | undefined;
  readonly #carriedOut = new Set<string>();
  readonly #failures = new Map<string, unknown>();

  constructor(isKeyed: boolean, replay?: Replay) {
    this.isKeyed = isKeyed;
    this.#replay = replay;
  }

  isCarriedOut(key: string): boolean {
    return this.#carriedOut.has(key);
  }

  /** Why the resolver of a field failed; undefined when it didn't come so far. */
  failureOf(key: string): unknown {
    return this.#failures.get(key);
  }

  async carryOut(key: string, codec: PayloadCodec, resolve: () => unknown): Promise<unknown> {
    try {
      const payload = this.#replay === undefined ? await resolve() : this.#replay(key, codec);
      if (this.isKeyed) this.payloads.set(key, codec.encode(payload));
      this.#carriedOut.add(key);
      return payload;
    } catch (error) {
      this.#failures.set(key, error);
      throw error;
    }
  }
}

import { DirectiveLocation, GraphQLDirective, type OperationDefinitionNode } from 'graphql';

import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { FieldResults } from '../../domain/idempotency/idempotency.service.ts';
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

/** The root fields of one try of an operation with `@atomic`, or of its replay. */
export class AtomicWrites {
  /** There is an Idempotency-Key, so payloads are collected to be stored. */
  readonly isKeyed: boolean;
  readonly payloads = new Map<string, StoredResult>();
  readonly #replays: FieldResults | undefined;
  readonly #carriedOut = new Set<string>();
  readonly #failures = new Map<string, unknown>();

  constructor(isKeyed: boolean, replays?: FieldResults) {
    this.isKeyed = isKeyed;
    this.#replays = replays;
  }

  isCarriedOut(key: string): boolean {
    return this.#carriedOut.has(key);
  }

  /** Why the resolver of a field failed; undefined when it didn't come so far. */
  failureOf(key: string): unknown {
    return this.#failures.get(key);
  }

  async carryOut(key: string, { encode, decode }: PayloadCodec, resolve: () => unknown): Promise<unknown> {
    try {
      const stored = this.#replays?.get(key);
      const payload = stored === undefined ? await resolve() : decode(stored);
      if (this.isKeyed) this.payloads.set(key, encode(payload));
      this.#carriedOut.add(key);
      return payload;
    } catch (error) {
      this.#failures.set(key, error);
      throw error;
    }
  }
}

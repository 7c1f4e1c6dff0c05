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

/** The way in which the root fields of an operation with `@atomic` are resolved, instead of their own. */
export interface AtomicFields {
  /** There is an Idempotency-Key, so payloads are to be stored. */
  readonly isKeyed: boolean;
  /** The payload of the field with this response key, whose resolver is `carryOut`. */
  resolve(key: string, codec: PayloadCodec, carryOut: () => unknown): unknown;
}

/** The fields of one try are carried out, in its transaction. */
export class AtomicWrites implements AtomicFields {
  readonly isKeyed: boolean;
  readonly payloads = new Map<string, object>();
  /** The same as they are stored, with an Idempotency-Key. */
  readonly stored = new Map<string, StoredResult>();

  constructor(isKeyed: boolean) {
    this.isKeyed = isKeyed;
  }

  async resolve(key: string, codec: PayloadCodec, carryOut: () => unknown): Promise<object> {
    const payload = (await carryOut()) as object;
    this.payloads.set(key, payload);
    if (this.isKeyed) this.stored.set(key, codec.encode(payload));
    return payload;
  }
}

/** The fields have been carried out, now or earlier: their payloads are shown. */
export class AtomicPayloads implements AtomicFields {
  readonly isKeyed = false;
  /** The response keys of those that could be read. */
  readonly shown: string[] = [];
  readonly #read: (key: string, codec: PayloadCodec) => object;

  constructor(read: (key: string, codec: PayloadCodec) => object) {
    this.#read = read;
  }

  resolve(key: string, codec: PayloadCodec): object {
    const payload = this.#read(key, codec);
    this.shown.push(key);
    return payload;
  }
}

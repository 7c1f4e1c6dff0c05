import { DomainError, validationFailed } from '../../domain/errors.ts';
import {
  type FieldResults,
  type IdempotencyService,
  type IdempotentOutcome,
  readStored,
} from '../../domain/idempotency/idempotency.service.ts';
import type { StoredResult } from '../../domain/idempotency/idempotency-record.entity.ts';
import type { Stores } from '../../domain/stores.ts';
import type { PayloadCodec } from './stored-payload.ts';

/** A root field that is to be carried out once. */
export interface KeyedField {
  /** The response name of the field. */
  readonly field: string;
  readonly fingerprint: string;
  readonly isInsertion: boolean;
  readonly codec: PayloadCodec;
}

export const maxKeyedFields = 50;

/** The root fields of one request with an Idempotency-Key. */
export class KeyedWrites {
  readonly #service: IdempotencyService;
  readonly #stores: Stores;
  readonly #principalId: string;
  readonly #key: string;
  #stillRunning: DomainError | undefined;
  /** The response names of the fields that were replayed. */
  readonly replayed: string[] = [];

  constructor(service: IdempotencyService, stores: Stores, principalId: string, key: string) {
    this.#service = service;
    this.#stores = stores;
    this.#principalId = principalId;
    this.#key = key;
  }

  /** Throws VALIDATION_FAILED. */
  assertFewFields(count: number): void {
    if (count <= maxKeyedFields) return;
    const message = `covers at most ${maxKeyedFields} root fields, not ${count}.`;
    throw validationFailed([{ field: 'Idempotency-Key', message }]);
  }

  /** Carries out the fields of an operation with `@atomic` together, or returns the payloads that were stored. */
  onceForOperation<Result extends { readonly stored: FieldResults }>(
    fields: readonly string[],
    fingerprint: string,
    work: (stores: Stores) => Promise<Result>,
  ): Promise<IdempotentOutcome<Result, FieldResults>> {
    const request = { principalId: this.#principalId, key: this.#key, fields, fingerprint };
    return this.#service.onceForOperation(this.#stores, request, work, ({ stored }) => stored);
  }

  /** The payload of a field that was stored. Throws UNAVAILABLE for one that this version can't read. */
  read(field: string, { decode }: PayloadCodec, stored: StoredResult): object {
    return readStored({ principalId: this.#principalId, key: this.#key, field }, () => decode(stored));
  }

  /** Carries the field out, or returns the payload that was stored. */
  async once({ codec, ...field }: KeyedField, work: (stores: Stores) => Promise<object>): Promise<object> {
    // The first request goes on with its next fields: none of them is carried out here before that one.
    if (this.#stillRunning !== undefined) throw this.#stillRunning;
    const request = { principalId: this.#principalId, key: this.#key, ...field };
    try {
      const { result, isReplayed } = await this.#service.onceForField(this.#stores, request, work, codec.encode);
      if (!isReplayed) return result;
      const payload = this.read(field.field, codec, result);
      this.replayed.push(field.field);
      return payload;
    } catch (error) {
      if (error instanceof DomainError && error.isUnderWay) this.#stillRunning = error;
      throw error;
    }
  }
}

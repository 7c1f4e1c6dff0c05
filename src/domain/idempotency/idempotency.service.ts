import { redactSecrets } from '../access/redaction.ts';
import { DomainError, unreadable } from '../errors.ts';
import type { Stores, TransactionKind } from '../stores.ts';
import type { IdempotencyRecord, StoredResult } from './idempotency-record.entity.ts';
import type { ClaimedKey, IdempotencyKey, StoredOutcome } from './idempotency.store.ts';

interface IdempotentRequest extends IdempotencyKey {
  /** Equal for equal requests only. */
  readonly fingerprint: string;
}

/** A request over REST. */
export interface IdempotentCall extends IdempotentRequest {
  /** The work only inserts: it may be done together with others, and again. */
  readonly isInsertion: boolean;
}

/** A root field of an operation, by its response name. */
export interface IdempotentField extends IdempotentCall {
  readonly field: string;
}

/** Root fields that are carried out together. */
export interface IdempotentOperation extends IdempotentRequest {
  readonly fields: readonly string[];
}

/** The results of the fields of an operation, by their response names. */
export type FieldResults = ReadonlyMap<string, StoredResult>;

/** The result of the work, or what an earlier request with the same key has stored. */
export type IdempotentOutcome<Result, Stored = Result> =
  { readonly result: Result; readonly isReplayed: false } | { readonly result: Stored; readonly isReplayed: true };

export const storedMillis = 24 * 60 * 60 * 1000;
const deletedPerBatch = 1000;
/** The fields of the records of a response over REST and of a whole operation, which no field can be called. */
const restResponse = '/';
const wholeOperation = '';

type NewRecord = Pick<IdempotencyRecord, 'field' | 'fingerprint' | 'result'>;

/** The use of a key: which records it needs, how it is replayed, and what is stored. */
interface KeyedWork<Result, Stored> {
  readonly fields: readonly string[];
  /** The stored result; undefined when there is none. Throws IDEMPOTENCY_KEY_REUSED. */
  readonly replay: (claimed: ClaimedKey) => Stored | undefined;
  readonly work: (stores: Stores) => Promise<Result>;
  /** What is stored of its result. */
  readonly records: (result: Result) => readonly NewRecord[];
  /** In which kind of transaction the work is done. */
  readonly transaction: TransactionKind;
}

/**
 * Executes what a client sends with a key once, however often it is sent: a request over REST, a root field or a whole
 * operation over GraphQL.
 *
 * Results are stored as JSON, in the transaction that does the work: both are committed, or neither. A failure of the
 * work stores nothing. Each takes the stores of its caller. All methods throw CONFLICT while the first request with the
 * key is running, and IDEMPOTENCY_KEY_REUSED when it was another one.
 */
export class IdempotencyService {
  /** The keys of requests under way in this process: a second one needs no connection to be refused. */
  readonly #running = new Set<string>();

  /** The work is done in the stores that it receives, which are those of the transaction. */
  once<Result extends StoredResult>(
    stores: Stores,
    request: IdempotentCall,
    work: (stores: Stores) => Promise<Result>,
  ): Promise<IdempotentOutcome<Result>> {
    const { fingerprint, isInsertion } = request;
    return this.#once<Result, Result>(stores, request, {
      transaction: isInsertion ? 'insertion' : 'plain',
      fields: [restResponse],
      replay: ({ fields, hasOthers }) => {
        if (hasOthers) throw keyReused();
        return checked(fields.get(restResponse), fingerprint)?.result as Result | undefined;
      },
      work,
      records: (result) => [{ field: restResponse, fingerprint, result }],
    });
  }

  /** The work's result is stored as `encode` has it. */
  onceForField<Result>(
    stores: Stores,
    request: IdempotentField,
    work: (stores: Stores) => Promise<Result>,
    encode: (result: Result) => StoredResult,
  ): Promise<IdempotentOutcome<Result, StoredResult>> {
    const { field, fingerprint, isInsertion } = request;
    return this.#once(stores, request, {
      transaction: isInsertion ? 'insertion' : 'plain',
      fields: [field, wholeOperation, restResponse],
      replay: ({ fields }) => {
        if (fields.has(restResponse) || fields.has(wholeOperation)) throw keyReused();
        return checked(fields.get(field), fingerprint)?.result;
      },
      work,
      records: (result) => [{ field, fingerprint, result: encode(result) }],
    });
  }

  /** Does the work in an atomic transaction; it is one record for all of its fields. */
  onceForOperation<Result>(
    stores: Stores,
    request: IdempotentOperation,
    work: (stores: Stores) => Promise<Result>,
    encode: (result: Result) => FieldResults,
  ): Promise<IdempotentOutcome<Result, FieldResults>> {
    const { fingerprint, fields } = request;
    return this.#once<Result, FieldResults>(stores, request, {
      transaction: 'atomic',
      fields: [wholeOperation, ...fields],
      replay: (claimed) => {
        const whole = checked(claimed.fields.get(wholeOperation), fingerprint);
        const isOther = claimed.hasOthers || claimed.fields.size > 0;
        if (whole === undefined && isOther) throw keyReused();
        return whole && new Map([...claimed.fields].map(([field, { result }]) => [field, result]));
      },
      work,
      records: (result) => [
        { field: wholeOperation, fingerprint, result: {} },
        ...Array.from(encode(result), ([field, each]) => ({ field, fingerprint: '', result: each })),
      ],
    });
  }

  async #once<Result, Stored>(
    stores: Stores,
    key: IdempotencyKey,
    use: KeyedWork<Result, Stored>,
  ): Promise<IdempotentOutcome<Result, Stored>> {
    const running = JSON.stringify([key.principalId, key.key]);
    if (this.#running.has(running)) throw stillRunning();
    this.#running.add(running);
    try {
      return await stores.transaction((inside) => this.#onceIn(inside, key, use), use.transaction);
    } finally {
      this.#running.delete(running);
    }
  }

  /** A lock in the database excludes other processes. */
  async #onceIn<Result, Stored>(
    stores: Stores,
    { principalId, key }: IdempotencyKey,
    { fields, replay, work, records }: KeyedWork<Result, Stored>,
  ): Promise<IdempotentOutcome<Result, Stored>> {
    const claimed = await stores.idempotency.claim({ principalId, key }, fields, oldestStored(stores));
    if (claimed === undefined) throw stillRunning();
    const stored = replay(claimed);
    if (stored !== undefined) return { result: stored, isReplayed: true };
    const result = await work(stores);
    const createdAt = new Date(stores.clock.now());
    for (const record of records(result)) await stores.idempotency.save({ principalId, key, ...record, createdAt });
    return { result, isReplayed: false };
  }

  async deleteExpired(stores: Pick<Stores, 'idempotency' | 'clock'>): Promise<void> {
    let deleted: number;
    do deleted = await stores.idempotency.deleteUntil(oldestStored(stores), deletedPerBatch);
    while (deleted === deletedPerBatch);
  }
}

function oldestStored({ clock }: Pick<Stores, 'clock'>): Date {
  return new Date(clock.settled() - storedMillis);
}

function checked(stored: StoredOutcome | undefined, fingerprint: string): StoredOutcome | undefined {
  if (stored !== undefined && stored.fingerprint !== fingerprint) throw keyReused();
  return stored;
}

function stillRunning(): DomainError {
  return new DomainError(
    'CONFLICT',
    'The first request with this Idempotency-Key is still running. Try again in a moment.',
    { isUnderWay: true, retryAfterSeconds: 1 },
  );
}

function keyReused(): DomainError {
  return new DomainError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for another request: make up a new one, or send exactly the same request.',
  );
}

/** The result of reading a stored result. Where that fails, throws UNAVAILABLE, whose cause names the record. */
export function readStored<Result>(
  { principalId, key, field }: IdempotencyKey & { readonly field?: string },
  read: () => Result,
): Result {
  try {
    return read();
  } catch (cause) {
    const record = JSON.stringify({ principalId, key: redactSecrets(key), field });
    throw unreadable(new Error(`The stored result ${record} can't be read.`, { cause }));
  }
}

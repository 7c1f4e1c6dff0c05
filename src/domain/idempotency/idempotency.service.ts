import { DomainError } from '../errors.ts';
import type { Stores } from '../stores.ts';
import type { StoredResult } from './idempotency-record.entity.ts';

export interface IdempotentRequest {
  /** The principal that the key belongs to. */
  readonly principalId: string;
  readonly key: string;
  /** Equal for equal requests only. */
  readonly fingerprint: string;
}

export interface IdempotentOutcome<Result> {
  readonly result: Result;
  /** True when the result is that of an earlier request. */
  readonly isReplayed: boolean;
}

const storedMillis = 24 * 60 * 60 * 1000;
const deletedPerBatch = 1000;

/** Executes a request once, however often the client sends it. Results are stored as JSON. */
export class IdempotencyService<Result extends StoredResult> {
  readonly #stores: Stores;
  readonly #now: () => Date;
  /** The keys of requests under way in this process: a second one needs no connection to be refused. */
  readonly #running = new Set<string>();

  constructor(stores: Stores, now = (): Date => new Date()) {
    this.#stores = stores;
    this.#now = now;
  }

  /**
   * Does the work and stores its result, in one transaction; or returns the result that was stored in the last 24 hours.
   *
   * The work must use the stores that it receives, which are those of that transaction: then the work and its record are
   * committed together, or neither. A failure of the work stores nothing.
   * Throws CONFLICT while the first request with the key is running, and IDEMPOTENCY_KEY_REUSED when it was another request.
   */
  async once(
    request: IdempotentRequest,
    work: (stores: Stores) => Promise<Result>,
  ): Promise<IdempotentOutcome<Result>> {
    const running = JSON.stringify([request.principalId, request.key]);
    if (this.#running.has(running)) throw stillRunning();
    this.#running.add(running);
    try {
      return await this.#stores.transaction((stores) => this.#onceIn(stores, request, work));
    } finally {
      this.#running.delete(running);
    }
  }

  /** A lock in the database excludes other processes. */
  async #onceIn(
    stores: Stores,
    { principalId, key, fingerprint }: IdempotentRequest,
    work: (stores: Stores) => Promise<Result>,
  ): Promise<IdempotentOutcome<Result>> {
    const { idempotency } = stores;
    if (!(await idempotency.tryLock({ principalId, key }))) throw stillRunning();
    const record = await idempotency.find({ principalId, key });
    if (record !== undefined && record.createdAt > this.#oldestStored()) {
      if (record.fingerprint !== fingerprint) throw keyReused();
      return { result: record.result as Result, isReplayed: true };
    }
    const result = await work(stores);
    await idempotency.save({ principalId, key, fingerprint, result, createdAt: this.#now() });
    return { result, isReplayed: false };
  }

  /** Deletes the records that are too old to be replayed, in batches of a short statement each. */
  async deleteExpired(): Promise<void> {
    let deleted: number;
    do deleted = await this.#stores.idempotency.deleteUntil(this.#oldestStored(), deletedPerBatch);
    while (deleted === deletedPerBatch);
  }

  #oldestStored(): Date {
    return new Date(this.#now().getTime() - storedMillis);
  }
}

function stillRunning(): DomainError {
  return new DomainError(
    'CONFLICT',
    'The first request with this Idempotency-Key is still running. Try again in a moment.',
  );
}

function keyReused(): DomainError {
  return new DomainError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for another request: make up a new one, or send exactly the same request.',
  );
}

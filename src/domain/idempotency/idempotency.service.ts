import { LockMode, type EntityManager } from '@mikro-orm/core';

import { DomainError } from '../errors.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { IdempotencyRecord, type KeptAnswer } from './idempotency-record.entity.ts';

export interface IdempotentRequest {
  /** Whose key it is. */
  readonly principalId: string;
  readonly key: string;
  /** The same for the same request only. */
  readonly fingerprint: string;
}

export interface IdempotentOutcome {
  readonly answer: KeptAnswer;
  /** True when the work was done before, by an earlier request. */
  readonly isReplayed: boolean;
}

const keptMillis = 24 * 60 * 60 * 1000;
const clearedAtOnce = 1000;

/** Does what a client asks for once, however often it has to ask. */
export class IdempotencyService {
  readonly #unitOfWork: UnitOfWork;
  readonly #now: () => Date;

  constructor(unitOfWork: UnitOfWork, now = (): Date => new Date()) {
    this.#unitOfWork = unitOfWork;
    this.#now = now;
  }

  /**
   * Does the work and keeps its answer, in one transaction; or gives the answer that was kept in the last 24 hours.
   *
   * The work must do everything in the unit of work that it is given, which joins that transaction: then neither a crash nor a second
   * process can come between the work and the record of it. A failure of the work leaves nothing behind.
   * Throws CONFLICT while the first request with the key is running, and IDEMPOTENCY_KEY_REUSED when it was another request.
   */
  once(request: IdempotentRequest, work: (joined: UnitOfWork) => Promise<KeptAnswer>): Promise<IdempotentOutcome> {
    const { principalId, key, fingerprint } = request;
    return this.#unitOfWork(async (em) => {
      await lockKey(em, request);
      const record = await em.findOne(IdempotencyRecord, { principalId, key });
      if (record !== null && record.createdAt > this.#oldestKept()) {
        if (record.fingerprint !== fingerprint) throw keyReused();
        return { answer: record.answer, isReplayed: true };
      }
      if (record !== null) await em.nativeDelete(IdempotencyRecord, { principalId, key });
      const answer = await work((joining) => joining(em));
      await em.insert(IdempotencyRecord, { principalId, key, fingerprint, answer, createdAt: this.#now() });
      return { answer, isReplayed: false };
    });
  }

  /** Deletes the records that are too old to be replayed, in batches of a short transaction each. */
  async clearOld(): Promise<void> {
    let cleared: number;
    do {
      cleared = await this.#unitOfWork(async (em) => {
        const old = await em.find(
          IdempotencyRecord,
          { createdAt: { $lte: this.#oldestKept() } },
          { fields: ['createdAt'], limit: clearedAtOnce, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
        );
        em.remove(old);
        return old.length;
      });
    } while (cleared === clearedAtOnce);
  }

  #oldestKept(): Date {
    return new Date(this.#now().getTime() - keptMillis);
  }
}

/**
 * Keeps the key from everybody else until the transaction ends, in whatever way; who comes second is sent away instead of waiting
 * with a connection in hand. The record can't serve for that, because it isn't there yet.
 */
async function lockKey(em: EntityManager, { principalId, key }: IdempotentRequest): Promise<void> {
  const row: unknown = await em
    .getConnection()
    .execute(
      'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as "isLocked"',
      [JSON.stringify([principalId, key])],
      'get',
      em.getTransactionContext(),
    );
  if ((row as { readonly isLocked: boolean }).isLocked) return;
  throw new DomainError(
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

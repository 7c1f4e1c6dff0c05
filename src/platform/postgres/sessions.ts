import { type Caller, Callers } from '../callers/index.ts';
import type { PgConnection } from './connection.ts';
import type { PgConnections } from './connections.ts';
import { isOutdated, isReadOnly, isTransactionConflict, recordFailure, throwIfLost } from './driver-errors.ts';
import { DatabaseUnavailable } from './failures.ts';
import { type ConnectionLease, createTransactionSession, type FailureOf } from './lease.ts';
import { limitLockWait } from './lock-wait.ts';
import { createSharedInsertions, createSharedTransactions, type Transact } from './shared-transactions.ts';
import type { Replicas } from './replicas/replicas.ts';
import type { LookUp, Query, Session, Statement, StatementValues, TransactionMode } from './statement.ts';

export interface SessionOptions extends PgConnections {
  /** Does the work in a transaction of the caller, on its connection, and commits it. */
  readonly transact: Transact;
  /** How long an atomic transaction may take from its BEGIN, further tries included. */
  readonly atomicMillis: number;
  /** Translates an error of the driver for who runs a statement. */
  readonly failureOf: FailureOf;
  /** Receives the driver's error of every failure on an exclusive connection. */
  readonly onFailure: (error: unknown) => void;
}

type Work<T> = (session: Session) => Promise<T>;

const minLockWaitMillis = 100;

/** The session of a caller. With `mayUseReplicas` what it reads outside of transactions may come from one. */
export type SessionOf = (caller: Caller, mayUseReplicas?: boolean) => Session;

/** Makes the session of a caller on the process's connections, which is light and holds nothing. */
export function createSessions(options: SessionOptions): SessionOf {
  const sessionOf = (caller: Caller, mayUseReplicas = false): CallerSession =>
    new CallerSession(caller, shared, mayUseReplicas ? options.replicas : undefined);
  const callers = new Callers(options.accounts);
  const shared: SharedParts = {
    ...options,
    fail: (error) => {
      throw options.failureOf(error);
    },
    insertions: createSharedInsertions(callers, (caller, queries) => sessionOf(caller).runExclusively(queries)),
    transactions: createSharedTransactions(
      callers,
      (caller, work) => sessionOf(caller).transact(work),
      options.failureOf,
    ),
  };
  return sessionOf;
}

interface SharedParts extends SessionOptions {
  /** Rejects with what a failure is to who uses a session. */
  readonly fail: (error: unknown) => never;
  readonly insertions: ReturnType<typeof createSharedInsertions>;
  readonly transactions: ReturnType<typeof createSharedTransactions>;
}

/**
 * The session of one caller, whose methods reject with what `failureOf` makes of a failure.
 *
 * A short statement is sent on a pipelined connection, and the look-ups of a tick are one statement. A slow one has an
 * exclusive connection, of which few are for slow ones. One that writes has an exclusive connection too; insertions at
 * the same time are one statement. All statements of a transaction are sent on its connection.
 */
class CallerSession implements Session {
  readonly caller: Caller;
  readonly #shared: SharedParts;
  readonly #replicas: Replicas | undefined;

  constructor(caller: Caller, shared: SharedParts, replicas: Replicas | undefined) {
    this.caller = caller;
    this.#shared = shared;
    this.#replicas = replicas;
  }

  /** In a transaction of its own: a short one on a shared connection, any other on an exclusive one. */
  run<Row>(statement: Statement<Row>, values: StatementValues, locks: readonly Query<unknown>[] = []): Promise<Row[]> {
    const { pipeline, insertions, fail } = this.#shared;
    let rows: Promise<unknown[]>;
    if (statement.many !== undefined) rows = insertions.add(this.caller, { query: { statement, values }, locks });
    else if (statement.kind === 'short' && pipeline !== undefined)
      rows = pipeline
        .run(this.caller, statement, values, this.#replicas)
        .catch((error: unknown) => this.#runLocked(error, { statement, values }));
    else rows = this.#runAlone({ statement, values }, locks);
    return rows.catch(fail) as Promise<Row[]>;
  }

  /** On an exclusive connection: of a replica, which waits for no lock of ours, or of the primary. */
  async #runAlone(query: Query<unknown>, locks: readonly Query<unknown>[]): Promise<unknown[]> {
    const { statement } = query;
    const onPrimary = async (): Promise<unknown[]> => {
      const sent =
        statement.subject === undefined
          ? this.runExclusively([...locks, query])
          : this.runExclusively([query], undefined, locks);
      return (await sent).at(-1) as unknown[];
    };
    if (this.#replicas === undefined || statement.kind === 'write') return onPrimary();
    throwIfLost(this.caller);
    return this.#replicas.read(query, [this.caller], onPrimary);
  }

  async defer(statement: Statement<unknown>, values: StatementValues): Promise<void> {
    await this.run(statement, values);
  }

  async lookUp<Row>(lookUp: LookUp<Row>, id: string): Promise<Row | undefined> {
    const { pipeline, fail } = this.#shared;
    if (pipeline === undefined) return (await this.run(lookUp.byId, [id]))[0];
    const row = pipeline.lookUp(this.caller, lookUp, id, this.#replicas).catch(async (error: unknown) => {
      const rows = await this.#runLocked(error, { statement: lookUp.byId, values: [id] });
      return rows[0];
    });
    return row.catch(fail) as Promise<Row | undefined>;
  }

  transaction<T>(work: Work<T>, kind: TransactionMode = 'plain'): Promise<T> {
    const { transactions, failureOf, fail } = this.#shared;
    let result: Promise<unknown>;
    if (kind === 'insertion') result = transactions.add(this.caller, { caller: this.caller, work });
    else if (kind === 'atomic') result = this.#atomically(work);
    else result = this.transact((lease) => work(createTransactionSession(this.caller, lease, failureOf)));
    return result.catch(fail) as Promise<T>;
  }

  withLease<T>(work: (lease: ConnectionLease) => Promise<T>): Promise<T> {
    return this.transact(work).catch(this.#shared.fail);
  }

  transact<T>(work: (lease: ConnectionLease) => Promise<T>): Promise<T> {
    return this.#guard(() => this.#shared.transact(this.caller, work));
  }

  async #atomically<T>(work: Work<T>): Promise<T> {
    const { atomicMillis } = this.#shared;
    let deadline: number | undefined;
    for (;;) {
      try {
        return await this.transact((lease) => {
          deadline ??= performance.now() + atomicMillis;
          // Of two that wait for each other, which is so only where others don't lock in our order, one is tried again.
          lease.defer(limitLockWait((deadline - performance.now()) * (0.4 + 0.2 * Math.random())));
          return this.#untilDeadline(lease, deadline, work);
        });
      } catch (error) {
        if (!isTransactionConflict(error) || performance.now() + minLockWaitMillis > (deadline ?? 0)) throw error;
      }
    }
  }

  /**
   * Rolls back what has taken too long, and what PostgreSQL would roll back at a COMMIT without a word, because a
   * statement has failed.
   */
  async #untilDeadline<T>(lease: ConnectionLease, deadline: number, work: Work<T>): Promise<T> {
    const { atomicMillis, failureOf } = this.#shared;
    const timer = setTimeout(() => lease.cancel(), Math.max(0, deadline - performance.now()));
    let failure: Error | undefined;
    const assertTime = (): void => {
      if (performance.now() <= deadline) return;
      throw new DatabaseUnavailable('deadline', new Error(`A transaction has taken longer than ${atomicMillis} ms.`));
    };
    const watched = async <Result>(step: () => Promise<Result>): Promise<Result> => {
      assertTime();
      try {
        return await step();
      } catch (error) {
        failure ??= failureOf(error);
        throw error;
      }
    };
    // All rows have been locked first.
    const session = createTransactionSession(this.caller, lease, failureOf, {
      run: (statement, values) => watched(() => lease.run(statement, values)),
      withLease: (leased) => watched(() => leased(lease)),
    });
    try {
      const result = await work(session);
      if (failure !== undefined) throw failure;
      assertTime();
      return result;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Once more where others don't wait behind it, if a lock kept a read from a shared connection. */
  async #runLocked(error: unknown, query: Query<unknown>): Promise<unknown[]> {
    if (!(error instanceof DatabaseUnavailable && error.reason === 'locked')) throw error;
    const [rows = []] = await this.runExclusively([query], true);
    return rows;
  }

  /**
   * `locksOfPooled` are sent first behind a pooler, where waits for locks have no time-out of their own: what is cut off
   * after them is so for its own time.
   */
  runExclusively(
    queries: readonly Query<unknown>[],
    isSlow = queries.some(({ statement }) => statement.kind === 'slow'),
    locksOfPooled: readonly Query<unknown>[] = [],
  ): Promise<unknown[][]> {
    const { pool, servers } = this.#shared;
    const caller = this.caller;
    const work = (connection: PgConnection): Promise<unknown[][]> =>
      connection.run(connection.session.isBehindPooler ? [...locksOfPooled, ...queries] : queries);
    return this.#guard(async () => {
      try {
        return await pool.run(caller, work, isSlow);
      } catch (error) {
        // The statement wasn't executed, so it may be retried on a new connection.
        if (!isOutdated(error)) throw error;
        servers.renew();
        return pool.run(caller, work, isSlow);
      }
    });
  }

  /**
   * Work on an exclusive connection. Fails at once when an earlier statement of the caller has lost the database;
   * failures are translated and remembered for the caller.
   */
  async #guard<Result>(work: () => Promise<Result>): Promise<Result> {
    const { servers, onFailure } = this.#shared;
    throwIfLost(this.caller);
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      // The address may lead to another server by now, and what is prepared may be outdated.
      if (isReadOnly(error) || isOutdated(error)) servers.renew();
      throw recordFailure(error, this.caller);
    }
  }
}

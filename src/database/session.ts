import type { MikroORM } from '@mikro-orm/postgresql';

import type { Caller } from '../platform/callers/index.ts';
import {
  type ConnectionLease,
  createSharedInsertions,
  createSharedTransactions,
  createTransactionSession,
  DatabaseUnavailable,
  type FailureOf,
  isTransactionConflict,
  isOutdated,
  isReadOnly,
  limitLockWait,
  type LookUp,
  type PgConnection,
  type PgConnections,
  type Query,
  recordFailure,
  type Session,
  type Statement,
  type StatementValues,
  throwIfLost,
  type TransactionKind,
} from '../platform/postgres/index.ts';
import { leaseOf } from './kysely-dialect.ts';

export interface SessionOptions extends PgConnections {
  readonly orm: MikroORM;
  /** How long an atomic transaction may take from its BEGIN, further tries included. */
  readonly atomicMillis: number;
  /** What an error of the driver is to who runs a statement. */
  readonly failureOf: FailureOf;
  /** Receives the driver's error of every failure on an exclusive connection. */
  readonly onFailure: (error: unknown) => void;
}

type Work<T> = (session: Session) => Promise<T>;

const minLockWaitMillis = 100;

/**
 * The sessions of the process's connections: one for each caller. What is sent on them is
 *
 * - short, on a pipelined connection: a row by its id (the look-ups of a tick are one statement), rows by up to 2,000
 *   ids, a page, or the same page for several parents; for the service itself what has changed of keys, the log of
 *   their changes, events after a position, day counters, the installation, the migrations.
 * - slow, on an exclusive connection, few at a time: counts; pages that are long, go backwards or need a plan of their
 *   own. Counts and the last two are not prepared.
 * - write, on an exclusive connection: insertions (those of one client at the same time are one statement), changes,
 *   deletions, locks; the claim and the record of an Idempotency-Key; who changes a key; the use of keys; the moving
 *   and the maintenance of events.
 * - in a transaction, all of these on its connection; BEGIN, COMMIT and savepoints are sent together with them.
 *
 * Nothing else is sent but what prepares a connection, cancels a statement, and looks at the disk (`readiness.ts`);
 * migrations and the seed have a connection of their own.
 */
export class Sessions {
  readonly #options: SessionOptions;
  readonly #insertions: ReturnType<typeof createSharedInsertions>;
  readonly #transactions: ReturnType<typeof createSharedTransactions>;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#insertions = createSharedInsertions((caller, queries) => this.#runExclusively(caller, queries));
    this.#transactions = createSharedTransactions((caller, work) => this.#transact(caller, work), options.failureOf);
  }

  /** Throws what a failure is to who uses a session: each of its methods rejects with that. */
  readonly fail = (error: unknown): never => {
    throw this.#options.failureOf(error);
  };

  /** It is light, and holds nothing. */
  for(caller: Caller): Session {
    return new CallerSession(this, caller);
  }

  /** In a transaction of its own: a short one on a shared connection, any other on an exclusive one. */
  run<Row>(
    caller: Caller,
    statement: Statement<Row>,
    values: StatementValues,
    locks: readonly Query<unknown>[] = [],
  ): Promise<Row[]> {
    const { pipeline } = this.#options;
    if (statement.many !== undefined)
      return this.#insertions.add(caller, { query: { statement, values }, locks }) as Promise<Row[]>;
    if (statement.kind === 'short' && pipeline !== undefined)
      return pipeline
        .run(caller, statement, values)
        .catch((error: unknown) => this.#runLocked(error, caller, { statement, values })) as Promise<Row[]>;
    return this.#runExclusively(caller, [...locks, { statement, values }]).then((rows) => rows.at(-1) as Row[]);
  }

  async lookUp<Row>(caller: Caller, lookUp: LookUp<Row>, id: string): Promise<Row | undefined> {
    const { pipeline } = this.#options;
    if (pipeline === undefined) return (await this.run(caller, lookUp.byId, [id]))[0];
    return pipeline.lookUp(caller, lookUp, id).catch(async (error: unknown) => {
      const rows = await this.#runLocked(error, caller, { statement: lookUp.byId, values: [id] });
      return rows[0];
    }) as Promise<Row | undefined>;
  }

  transaction<T>(caller: Caller, work: Work<T>, kind: TransactionKind): Promise<T> {
    if (kind === 'insertion') return this.#transactions.add(caller, work) as Promise<T>;
    if (kind === 'atomic') return this.#atomically(caller, work);
    return this.#transact(caller, (lease) => work(createTransactionSession(lease, this.#options.failureOf)));
  }

  #transact<T>(caller: Caller, work: (lease: ConnectionLease) => Promise<T>): Promise<T> {
    return this.#guard(caller, () =>
      // Without an entity manager, which costs a tenth of a small transaction: stores need its connection only.
      this.#options.orm.em.getConnection().transactional(async (transaction) => {
        const lease = await leaseOf(transaction);
        await lease.connect(caller);
        caller.recordWrite();
        return work(lease);
      }),
    );
  }

  async #atomically<T>(caller: Caller, work: Work<T>): Promise<T> {
    const { atomicMillis } = this.#options;
    let deadline: number | undefined;
    for (;;) {
      try {
        return await this.#transact(caller, (lease) => {
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
   * Rolls back what has taken too long, and what PostgreSQL would roll back at a COMMIT without a word, because a write
   * has failed.
   */
  async #untilDeadline<T>(lease: ConnectionLease, deadline: number, work: Work<T>): Promise<T> {
    const { atomicMillis, failureOf } = this.#options;
    const timer = setTimeout(() => lease.cancel(), Math.max(0, deadline - performance.now()));
    let failure: Error | undefined;
    const assertTime = (): void => {
      if (performance.now() <= deadline) return;
      throw new DatabaseUnavailable('deadline', new Error(`A transaction has taken longer than ${atomicMillis} ms.`));
    };
    const run = async <Row>(statement: Statement<Row>, values: StatementValues): Promise<Row[]> => {
      assertTime();
      if (statement.kind !== 'write') return lease.runRead(statement, values);
      try {
        return await lease.run(statement, values);
      } catch (error) {
        failure ??= failureOf(error);
        throw error;
      }
    };
    // What has failed is undone before the next statement is sent. All rows have been locked first.
    let last: Promise<unknown> = Promise.resolve();
    const session = createTransactionSession(lease, failureOf, (statement, values) => {
      const rows = last.then(() => run(statement, values));
      last = rows.catch(() => undefined);
      return rows;
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
  async #runLocked(error: unknown, caller: Caller, query: Query<unknown>): Promise<unknown[]> {
    if (!(error instanceof DatabaseUnavailable && error.reason === 'locked')) throw error;
    const [rows = []] = await this.#runExclusively(caller, [query], true);
    return rows;
  }

  #runExclusively(
    caller: Caller,
    queries: readonly Query<unknown>[],
    isSlow = queries.some(({ statement }) => statement.kind === 'slow'),
  ): Promise<unknown[][]> {
    const { pool, servers } = this.#options;
    const work = (connection: PgConnection): Promise<unknown[][]> => connection.run(queries);
    return this.#guard(caller, async () => {
      try {
        return await pool.run(caller, work, isSlow);
      } catch (error) {
        // It wasn't executed, so it may be retried on a new connection.
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
  async #guard<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> {
    const { servers, onFailure } = this.#options;
    throwIfLost(caller);
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      // The address may lead to another server by now, and what is prepared may be outdated.
      if (isReadOnly(error) || isOutdated(error)) servers.renew();
      throw recordFailure(error, caller);
    }
  }
}

/** That of one caller. */
class CallerSession implements Session {
  readonly #sessions: Sessions;
  readonly #caller: Caller;

  constructor(sessions: Sessions, caller: Caller) {
    this.#sessions = sessions;
    this.#caller = caller;
  }

  run<Row>(statement: Statement<Row>, values: StatementValues, locks?: readonly Query<unknown>[]): Promise<Row[]> {
    return this.#sessions.run(this.#caller, statement, values, locks).catch(this.#sessions.fail);
  }

  async defer(statement: Statement<unknown>, values: StatementValues): Promise<void> {
    await this.run(statement, values);
  }

  lookUp<Row>(lookUp: LookUp<Row>, id: string): Promise<Row | undefined> {
    return this.#sessions.lookUp(this.#caller, lookUp, id).catch(this.#sessions.fail);
  }

  transaction<T>(work: Work<T>, kind: TransactionKind = 'plain'): Promise<T> {
    return this.#sessions.transaction(this.#caller, work, kind).catch(this.#sessions.fail);
  }
}

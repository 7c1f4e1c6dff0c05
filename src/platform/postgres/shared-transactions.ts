import type { Caller, Callers } from '../callers/index.ts';
import { inBackground } from '../background.ts';
import { failureOf } from './driver-errors.ts';
import { Batches } from './batches.ts';
import { type ConnectionLease, control, createTransactionSession, type FailureOf } from './lease.ts';
import { type Query, type Session, type Statement, together, type StatementValues } from './statement.ts';

interface Work {
  readonly caller: Caller;
  readonly work: (session: Session) => Promise<unknown>;
}

type RunTogether = (queries: readonly Query<unknown>[]) => Promise<unknown[][]>;
/** Does the work in a transaction of the caller, on its connection, and commits it. */
export type Transact = <T>(caller: Caller, work: (lease: ConnectionLease) => Promise<T>) => Promise<T>;

interface Insertion {
  readonly query: Query<unknown>;
  /** See `Session.run`. */
  readonly locks: readonly Query<unknown>[];
}

/** A statement of one of the works, which waits to be sent with those of others. */
interface Waiting extends Insertion {
  readonly resolve: (rows: never[]) => void;
  readonly reject: (error: unknown) => void;
}

const maxWorks = 32;
const maxRows = 100;

/**
 * Sent before what is done together, so that it soon fails when one of the works has to wait, for a lock for example:
 * then each waits for itself. COMMIT may take longer: what a cancelled one has done isn't known.
 */
const shortTimeouts = control(
  `select set_config('lock_timeout', '20ms', true), set_config('statement_timeout', '500ms', true)`,
  2,
);
const sessionTimeout = control('set local statement_timeout to default');

/**
 * Lets insertions of single rows, outside of transactions, be one transaction when they come at the same time, equal
 * ones as one statement: a commit waits for the disk, however many rows it has.
 */
export function createSharedInsertions(
  callers: Callers,
  runTogether: (caller: Caller, queries: readonly Query<unknown>[]) => Promise<unknown[][]>,
): Batches<Insertion, unknown[]> {
  return new Batches({
    callers,
    maxEntries: maxRows,
    doAlone: async (caller, { query, locks }) => (await runTogether(caller, [...locks, query])).at(-1) as unknown[],
    doTogether: (caller, insertions) =>
      runEqualTogether(insertions, async (equal) => (await runTogether(caller, [shortTimeouts, ...equal])).slice(1)),
  });
}

/**
 * Lets works that only insert share a transaction, when they come at the same time.
 *
 * Model: the statements of a tick of the event loop are sent in one write, equal ones as one statement, and there is
 * one COMMIT.
 *
 * Guarantees, besides those of `Batches`: the transaction is committed only if every work has succeeded and has sent
 * nothing but statements that have a form for many. So no work takes a lock or a change of another one for its own.
 */
export function createSharedTransactions(
  callers: Callers,
  transact: Transact,
  toFailure: FailureOf,
): Batches<Work, unknown> {
  return new Batches({
    callers,
    maxEntries: maxWorks,
    doAlone: (caller, { work }) =>
      transact(caller, (lease) => work(createTransactionSession(caller, lease, toFailure))),
    doTogether: (shared, works) =>
      transact(shared, async (lease) => {
        lease.defer(shortTimeouts);
        const statements = new GatheredStatements(lease);
        const results = await statements.resultsOf(
          works.map(({ caller, work }) =>
            work(
              createTransactionSession(caller, lease, toFailure, {
                run: (...query) => statements.run(...query),
                withLease: () => statements.refuse(),
              }),
            ),
          ),
        );
        lease.defer(sessionTimeout);
        return results;
      }),
  });
}

/** Sends the statements of a tick of the event loop in one write, and equal ones as one. */
class GatheredStatements {
  readonly #lease: ConnectionLease;
  #waiting: Waiting[] = [];
  #failure: Error | undefined;

  constructor(lease: ConnectionLease) {
    this.#lease = lease;
  }

  async run<Row>(
    statement: Statement<Row>,
    values: StatementValues,
    locks: readonly Query<unknown>[] = [],
  ): Promise<Row[]> {
    if (statement.many === undefined) return this.refuse();
    return new Promise((resolve, reject) => {
      const query = { statement, values };
      if (this.#waiting.push({ query, locks, resolve, reject }) === 1)
        setImmediate(() => inBackground(this.#sendAll()));
    });
  }

  /** For what isn't an insertion: fails all works. */
  async refuse(): Promise<never> {
    this.#failure ??= new Error('Works that share a transaction only insert.');
    throw this.#failure;
  }

  /** The results of the works, once all have ended. Throws the first failure of a statement, or of a work. */
  async resultsOf(works: readonly Promise<unknown>[]): Promise<unknown[]> {
    await Promise.allSettled(works);
    if (this.#failure !== undefined) throw this.#failure;
    return Promise.all(works);
  }

  async #sendAll(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    try {
      const rows = await runEqualTogether(waiting, (equal) => this.#lease.runTogether(equal));
      for (const [index, { resolve }] of waiting.entries()) resolve(rows[index] as never[]);
    } catch (error) {
      this.#failure = failureOf(error);
      for (const { reject } of waiting) reject(this.#failure);
    }
  }
}

/** Sends equal statements, which return one row each, as one. Returns the rows of each insertion. */
async function runEqualTogether(insertions: readonly Insertion[], runTogether: RunTogether): Promise<unknown[][]> {
  const queries = insertions.flatMap(({ query, locks }) => [...locks, query]);
  const groups = [...Map.groupBy(queries, ({ statement }) => statement).values()];
  const results = await runTogether(groups.map(together));
  const rows = new Map<unknown, unknown>();
  for (const [group, equal] of groups.entries()) {
    for (const [index, query] of equal.entries()) rows.set(query, results[group]?.[index]);
  }
  return insertions.map(({ query }) => [rows.get(query)]);
}

import type { Caller, Callers } from '../callers/index.ts';
import { inBackground } from '../background.ts';
import { failureOf, isOrHasUnavailable } from './driver-errors.ts';
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
 * one COMMIT. A statement that nearly always returns the same row has it as `expected`: works go on with that one at
 * once, and whether it was right is known before COMMIT.
 *
 * Guarantees, besides those of `Batches`: the transaction is committed only if every work has succeeded, has sent
 * nothing but statements that have a form for many, and has got the rows that were assumed. So no work takes a lock or
 * a change of another one for its own.
 *
 * Failures: after a wrong assumption all works are done again together without any; after another failure each is done
 * again by itself.
 */
export function createSharedTransactions(
  callers: Callers,
  transact: Transact,
  toFailure: FailureOf,
): Batches<Work, unknown> {
  const doAll = async (
    lease: ConnectionLease,
    works: readonly Work[],
    assumesExpected: boolean,
  ): Promise<unknown[]> => {
    const statements = new GatheredStatements(lease, assumesExpected);
    const sessionOf = (caller: Caller): Session =>
      createTransactionSession(caller, lease, toFailure, {
        run: (...query) => statements.run(caller, ...query),
        withLease: () => statements.refuse(caller),
      });
    return statements.resultsOf(works.map(({ caller, work }) => work(sessionOf(caller))));
  };
  const firstAssuming = async <Result>(work: (assumesExpected: boolean) => Promise<Result>): Promise<Result> => {
    try {
      return await work(true);
    } catch (error) {
      if (!(error instanceof UnexpectedRow)) throw error;
      for (const clientId of error.clientIds) batches.keepApart(clientId);
      return work(false);
    }
  };
  const batches: Batches<Work, unknown> = new Batches({
    callers,
    maxEntries: maxWorks,
    doAlone: (caller, alone) =>
      firstAssuming((assumesExpected) =>
        transact(caller, async (lease) =>
          assumesExpected
            ? (await doAll(lease, [alone], true))[0]
            : alone.work(createTransactionSession(caller, lease, toFailure)),
        ),
      ),
    doTogether: (caller, works) =>
      firstAssuming((assumesExpected) =>
        transact(caller, async (lease) => {
          lease.defer(shortTimeouts);
          const results = await doAll(lease, works, assumesExpected);
          lease.defer(sessionTimeout);
          return results;
        }),
      ),
  });
  return batches;
}

/** Works have gone on with a row that was another one, or do more than insert: those of these clients. */
class UnexpectedRow extends Error {
  readonly clientIds: Iterable<string>;

  constructor(clientIds: Iterable<string>) {
    super();
    this.clientIds = clientIds;
  }
}

/** Sends the statements of a tick of the event loop in one write, and equal ones as one. */
class GatheredStatements {
  readonly #lease: ConnectionLease;
  readonly #assumesExpected: boolean;
  #waiting: Waiting[] = [];
  readonly #wereExpected: Promise<boolean>[] = [];
  /** Whose works have gone on with a wrong row, or do more than insert. */
  readonly #unexpectedFor = new Set<string>();
  #failure: Error | undefined;

  constructor(lease: ConnectionLease, assumesExpected: boolean) {
    this.#lease = lease;
    this.#assumesExpected = assumesExpected;
  }

  async run<Row>(
    caller: Caller,
    statement: Statement<Row>,
    values: StatementValues,
    locks: readonly Query<unknown>[] = [],
  ): Promise<Row[]> {
    if (statement.many === undefined) return this.refuse(caller);
    const rows = new Promise<Row[]>((resolve, reject) => {
      const query = { statement, values };
      if (this.#waiting.push({ query, locks, resolve, reject }) === 1)
        setImmediate(() => inBackground(this.#sendAll()));
    });
    const { expected } = statement;
    if (expected === undefined || !this.#assumesExpected) return rows;
    this.#wereExpected.push(
      rows.then(
        ([row]) => {
          if (row !== expected) this.#unexpectedFor.add(caller.id);
          return row === expected;
        },
        () => false,
      ),
    );
    return [expected];
  }

  /** For what isn't an insertion. */
  async refuse({ id }: Caller): Promise<never> {
    this.#unexpectedFor.add(id);
    this.#wereExpected.push(Promise.resolve(false));
    throw new UnexpectedRow([id]);
  }

  /**
   * The results of the works, once all have ended. Throws UnexpectedRow, DatabaseUnavailable, or their first failure.
   */
  async resultsOf(works: readonly Promise<unknown>[]): Promise<unknown[]> {
    await Promise.allSettled(works);
    const wereExpected = await Promise.all(this.#wereExpected);
    if (isOrHasUnavailable(this.#failure)) throw this.#failure;
    if (wereExpected.includes(false)) throw new UnexpectedRow(this.#unexpectedFor);
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

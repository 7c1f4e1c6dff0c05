import { inBackground } from '../background.ts';
import { currentRequest, runIn, type RequestContext } from '../domain/access/current-request.ts';
import { DomainError } from '../domain/errors.ts';
import { ClientBatches } from './client-batches.ts';
import { recordFailure, throwIfLost } from '../postgres/driver-errors.ts';
import { createTransactionSession, type ConnectionLease } from './lease.ts';
import { type Query, type Session, together } from '../postgres/statement.ts';

type Work = (session: Session) => Promise<unknown>;
type Transact = <T>(work: (lease: ConnectionLease) => Promise<T>) => Promise<T>;

interface SharedWork {
  readonly work: Work;
  readonly request: RequestContext | undefined;
  outcome: { readonly result: unknown } | undefined;
}

/** A statement of one of the works, which waits to be sent with those of others. */
interface Waiting {
  readonly query: Query<unknown>;
  readonly resolve: (rows: never[]) => void;
  readonly reject: (error: unknown) => void;
}

const maxWorks = 32;

/**
 * Lets works that only insert share a transaction, when they come from one client at the same time.
 *
 * Model: the statements of a tick of the event loop are sent in one write, equal ones as one statement, and there is
 * one COMMIT. Works go on with the usual rows of a statement, which come with those of the next one. Guarantees, besides
 * those of `ClientBatches`: a work without others at its time has a transaction of its own; nothing is committed unless
 * every work succeeds by statements that have a form for many, and every row was as assumed, so no work sees a lock or a
 * change of another one as its own; otherwise all are done again together without assumptions, or each by itself.
 * Failure: a lost database fails all works, of which all or none have been committed.
 */
export class SharedTransactions {
  readonly #transact: Transact;
  readonly #batches = new ClientBatches<SharedWork>(maxWorks, (entries) => this.#doTogether(entries));

  constructor(transact: Transact) {
    this.#transact = transact;
  }

  async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const request = currentRequest();
    throwIfLost(request);
    const entry: SharedWork = { work, request, outcome: undefined };
    try {
      await this.#batches.add(request?.subjectId ?? '', entry);
    } catch (error) {
      throw recordFailure(error, request);
    }
    throwIfLost(request);
    if (entry.outcome !== undefined) return entry.outcome.result as T;
    return this.#transact((lease) => work(createTransactionSession(lease)));
  }

  async #doTogether(all: readonly SharedWork[]): Promise<void> {
    const entries = all.filter(({ request }) => request?.failure === undefined);
    if (entries.length < 2) return;
    for (const assumesUsual of [true, false]) {
      try {
        const results = await this.#transact((lease) => doAll(lease, entries, assumesUsual));
        for (const [index, entry] of entries.entries()) entry.outcome = { result: results[index] };
        return;
      } catch (error) {
        // What a lost COMMIT has done isn't known here, so nothing is done again.
        if (error instanceof DomainError && error.code === 'UNAVAILABLE') throw error;
        if (!(error instanceof UnusualRow)) return;
      }
    }
  }
}

/** Works have gone on with a row that was another one. */
class UnusualRow extends Error {}

/** Throws the first failure, once all works have ended. */
async function doAll(
  lease: ConnectionLease,
  entries: readonly SharedWork[],
  assumesUsual: boolean,
): Promise<unknown[]> {
  const statements = new GatheredStatements(lease, assumesUsual);
  const session = createTransactionSession(lease, (query) => statements.run(query));
  const outcomes = await Promise.allSettled(
    entries.map(({ work, request }) => {
      request?.recordWrite();
      return request === undefined ? work(session) : runIn(request, () => work(session));
    }),
  );
  const results = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
  await statements.assertUsual();
  return results;
}

/** Sends the statements of a tick of the event loop in one write, and equal ones as one. */
class GatheredStatements {
  readonly #lease: ConnectionLease;
  readonly #assumesUsual: boolean;
  #waiting: Waiting[] = [];
  readonly #wereUsual: Promise<boolean>[] = [];

  constructor(lease: ConnectionLease, assumesUsual: boolean) {
    this.#lease = lease;
    this.#assumesUsual = assumesUsual;
  }

  async run<Row>(query: Query<Row>): Promise<Row[]> {
    if (query.many === undefined) throw new Error('This statement has no form for many.');
    const rows = new Promise<Row[]>((resolve, reject) => {
      if (this.#waiting.push({ query, resolve, reject }) === 1) setImmediate(() => inBackground(this.#sendAll()));
    });
    const { usual } = query;
    if (usual === undefined || !this.#assumesUsual) return rows;
    this.#wereUsual.push(
      rows.then(
        ([row]) => row === usual,
        () => false,
      ),
    );
    return [usual];
  }

  /** Throws UnusualRow. */
  async assertUsual(): Promise<void> {
    if ((await Promise.all(this.#wereUsual)).includes(false)) throw new UnusualRow();
  }

  async #sendAll(): Promise<void> {
    const groups = [...Map.groupBy(this.#waiting.splice(0), ({ query }) => query.name).values()];
    try {
      const rows = await this.#lease.runTogether(groups.map((equal) => together(equal.map(({ query }) => query))));
      for (const [group, equal] of groups.entries()) {
        if (rows[group]?.length !== equal.length) throw new Error('A statement has not returned one row for each.');
        for (const [index, { resolve }] of equal.entries()) resolve([rows[group][index] as never]);
      }
    } catch (error) {
      for (const { reject } of groups.flat()) reject(error);
    }
  }
}

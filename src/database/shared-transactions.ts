import { inBackground } from '../background.ts';
import { currentRequest, runIn, type RequestContext } from '../domain/access/current-request.ts';
import { DomainError } from '../domain/errors.ts';
import { ClientBatches } from './client-batches.ts';
import { recordFailure, throwIfLost } from '../postgres/driver-errors.ts';
import type { ConnectionLease } from './lease.ts';
import { createTransactionSession, type RunQuery } from './transaction-session.ts';
import type { PreparedQuery, Query, Session } from '../postgres/session.ts';
import { together } from '../postgres/statement.ts';

type Work = (session: Session) => Promise<unknown>;
type Transact = <T>(work: (lease: ConnectionLease) => Promise<T>) => Promise<T>;

interface SharedWork {
  readonly work: Work;
  readonly request: RequestContext | undefined;
  outcome: { readonly result: unknown } | undefined;
}

/** A statement of one of the works, which waits to be sent with those of others. */
interface Waiting {
  readonly query: PreparedQuery<unknown>;
  readonly resolve: (rows: never[]) => void;
  readonly reject: (error: unknown) => void;
}

const maxWorks = 32;

/**
 * Lets works that only insert share a transaction, when they come from one client at the same time.
 *
 * Model: equal statements of the works are one statement, and there is one COMMIT. Guarantees, besides those of
 * `ClientBatches`: a work without others at its time has a transaction of its own; nothing is committed unless every
 * work succeeds by statements that have a form for many, so no work sees a lock or a change of another one as its own;
 * otherwise each is done again by itself.
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
    try {
      const results = await this.#transact((lease) => doAll(lease, entries));
      for (const [index, entry] of entries.entries()) entry.outcome = { result: results[index] };
    } catch (error) {
      // What a lost COMMIT has done isn't known here, so nothing is done again.
      if (error instanceof DomainError && error.code === 'UNAVAILABLE') throw error;
    }
  }
}

/** Throws the first failure, once all works have ended. */
async function doAll(lease: ConnectionLease, entries: readonly SharedWork[]): Promise<unknown[]> {
  const session = createTransactionSession(lease, gather(lease));
  const outcomes = await Promise.allSettled(
    entries.map(({ work, request }) => {
      request?.recordWrite();
      return request === undefined ? work(session) : runIn(request, () => work(session));
    }),
  );
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Sends the equal statements of a tick of the event loop as one. */
function gather(lease: ConnectionLease): RunQuery {
  const waiting: Waiting[] = [];
  const sendAll = (): void => {
    for (const [, equal] of Map.groupBy(waiting.splice(0), ({ query }) => query.name))
      inBackground(sendEqual(lease, equal));
  };
  return (query) =>
    new Promise((resolve, reject) => {
      if (!hasMany(query)) return reject(new Error('This statement has no form for many.'));
      if (waiting.push({ query, resolve, reject }) === 1) setImmediate(sendAll);
    });
}

async function sendEqual(lease: ConnectionLease, equal: readonly Waiting[]): Promise<void> {
  try {
    const rows = await lease.run(together(equal.map(({ query }) => query)));
    if (rows.length !== equal.length) throw new Error('A statement has not returned one row for each.');
    for (const [index, { resolve }] of equal.entries()) resolve([rows[index] as never]);
  } catch (error) {
    for (const { reject } of equal) reject(error);
  }
}

function hasMany(query: Query<unknown>): query is PreparedQuery<unknown> {
  return (query as Partial<PreparedQuery<unknown>>).many !== undefined;
}

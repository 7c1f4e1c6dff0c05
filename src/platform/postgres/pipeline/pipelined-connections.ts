import { type Caller, type Lease, service, Share } from '../../callers/index.ts';
import { ConnectionFailure } from '../connection-failure.ts';
import type { PgConnection } from '../connection.ts';
import type { LogPosition } from '../replicas/log-position.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { LookUps } from './look-ups.ts';
import { maxReadsOfClient, type PendingRead, PipelinedConnection, type SomeCallers } from './pipelined-connection.ts';
import type { PoolOptions } from '../connection-pool.ts';
import { NoFreeConnection } from '../connection-slots.ts';
import type { LookUp, Query, Statement, StatementValues } from '../statement.ts';
import { recordFailure, throwIfLost } from '../driver-errors.ts';

export type PipelineOptions = Omit<PoolOptions, 'ofClient' | 'idleMillis'>;

/** How much work of one client the server has at most before another's read, on each connection. */
const maxMillisAhead = 16;

/**
 * A few connections that short reads share: none waits for the responses of earlier ones. The reads of one tick of the
 * event loop are sent at its end by one system call, which is the largest cost of a prepared statement, and look-ups of
 * the same kind as one statement (`LookUps`).
 *
 * Model: a read goes to the connection with the least to do. It waits for those before it, so only short reads belong
 * here, and only a few of each client, fewer the longer they take: its others wait (`Share`), for 2 s at most.
 * Guarantees: every read settles once.
 * Failure: a read that takes too long is cancelled; those behind it are retried once on another connection, which is
 * safe because they change nothing. So is a read whose prepared form is gone or outdated by a migration, and one whose
 * connection breaks. A connection without a response in time fails all of its reads: the server is probably gone. A
 * read that waits for a lock fails after 10 ms, for its session to send it on an exclusive connection.
 */
export class PipelinedConnections {
  readonly #options: PipelineOptions;
  /** Also those that only finish their reads. */
  readonly #connections = new Set<PipelinedConnection>();
  /** Look-ups of this tick of the event loop, which are sent at its end. */
  readonly #lookUps = new LookUps({
    read: (query, callers, replicas) => this.#read(query, callers, replicas),
    tryTake: (caller) => this.#reads.tryTake(caller),
  });
  /** The connection of this tick. */
  #current: PipelinedConnection | undefined;
  /**
   * Connections to which reads were added in this tick, also one that has ended since: its reads fail when they are
   * sent.
   */
  readonly #added = new Set<PipelinedConnection>();
  /** The reads that are sent: a client that has one has a free slot for it on a connection. */
  readonly #reads: Share;
  #isEndScheduled = false;

  constructor(options: PipelineOptions) {
    const { accounts, size, waitMillis, onRefusal } = options;
    this.#options = options;
    this.#reads = new Share(accounts, {
      ofClient: (_clients, clientId, meanMillis) => (clientId === service ? Infinity : size * readsAhead(meanMillis)),
      ofAll: Infinity,
      waitMillis,
      refuse: () => {
        onRefusal?.();
        return new NoFreeConnection('earlier reads of your key');
      },
    });
    options.servers.onRetire(() => {
      for (const connection of this.#connections) if (!connection.isCurrent) connection.retire();
    });
  }

  /** Perhaps on a replica. Throws what `failureOf` returns, or the failure that the caller has already. */
  async run(
    caller: Caller,
    statement: Statement<unknown>,
    values: StatementValues,
    replicas?: Replicas,
  ): Promise<unknown[]> {
    throwIfLost(caller);
    try {
      return await this.#read({ statement, values }, [caller], replicas);
    } catch (error) {
      throw recordFailure(error, caller);
    }
  }

  /** The row with this id; throws as `run` does. */
  async lookUp(caller: Caller, lookUp: LookUp<unknown>, id: string, replicas?: Replicas): Promise<unknown> {
    throwIfLost(caller);
    this.#scheduleEnd();
    return this.#lookUps.load(lookUp, caller, id, replicas);
  }

  async close(): Promise<void> {
    this.#endTick();
    this.#reads.refuseWaiting(new ConnectionFailure(new Error('The database is closed')));
    await Promise.all([...this.#connections].map((connection) => connection.close()));
  }

  /**
   * Rejects with the driver's error, and fails no caller. On a standby it reads what is there at the position or later,
   * or else rejects with LeftOut; and it sends nothing a second time, because the primary serves it then.
   */
  read(query: Query<unknown>, callers: SomeCallers, position?: LogPosition): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      const [{ id: first }] = callers;
      // For several clients, each of which holds its part already.
      const id = callers.every((caller) => caller.id === first) ? first : service;
      const isRetried = position !== undefined;
      this.#submit({ query, id, callers, position, askedAt: performance.now(), resolve, reject, isRetried });
    });
  }

  #read(query: Query<unknown>, callers: SomeCallers, replicas: Replicas | undefined): Promise<unknown[]> {
    if (replicas === undefined) return this.read(query, callers);
    return replicas.read(query, callers, () => this.read(query, callers));
  }

  /** Sends the read when its client may have one more. */
  #submit(pending: PendingRead): void {
    const lease = this.#reads.tryTake(pending);
    if (lease !== undefined) return this.#send(pending, lease);
    const { id, callers } = pending;
    const waiting = {
      id,
      // Nobody waits longer than is left to each: the others go on alone (`LookUps`).
      waitedMillis: Math.max(0, ...callers.map(({ waitedMillis }) => waitedMillis)),
      beginWait: () => callers.forEach((caller) => caller.beginWait()),
      endWait: () => callers.forEach((caller) => caller.endWait()),
    };
    this.#reads.take(waiting).then((late) => this.#sendLate(pending, late), pending.reject);
    return undefined;
  }

  #sendLate(pending: PendingRead, lease: Lease): void {
    const { callers, reject } = pending;
    if (callers.some(({ failure }) => failure === undefined)) return this.#send(pending, lease);
    // The read that all of them wait for is not needed any more.
    lease.release();
    return reject(callers[0]?.failure as Error);
  }

  #send(pending: PendingRead, lease = pending.lease): void {
    pending.lease = lease;
    const connection = this.#connectionFor(pending);
    connection.add(pending);
    this.#added.add(connection);
    this.#scheduleEnd();
  }

  #scheduleEnd(): void {
    if (this.#isEndScheduled) return;
    this.#isEndScheduled = true;
    setImmediate(() => this.#endTick());
  }

  #endTick(): void {
    this.#lookUps.readAll();
    this.#isEndScheduled = false;
    this.#current = undefined;
    for (const connection of this.#added) connection.flush();
    this.#added.clear();
  }

  /** The connection of this tick while the client has few enough reads there. */
  #connectionFor(pending: PendingRead): PipelinedConnection {
    const current = this.#current;
    if (current?.accepts(pending.id, readsAhead(this.#reads.meanMillisOf(pending))) === true) return current;
    this.#current = this.#choose(pending.id);
    return this.#current;
  }

  /** A new connection if all are busy and the maximum isn't reached, else the one with the least to do. */
  #choose(clientId: string): PipelinedConnection {
    let chosen: PipelinedConnection | undefined;
    let open = 0;
    for (const each of this.#connections) {
      if (!each.isRetired) open += 1;
      if (each.accepts(clientId) && (chosen === undefined || each.pending < chosen.pending)) chosen = each;
    }
    if (chosen === undefined || (chosen.pending > 0 && open < this.#options.size)) {
      chosen = this.#open();
      this.#connections.add(chosen);
    }
    return chosen;
  }

  #open(): PipelinedConnection {
    const { servers, connection } = this.#options;
    const open = (signal: AbortSignal): Promise<PgConnection> =>
      servers.open({ ...connection, isPipelined: true }, signal);
    return new PipelinedConnection(open, {
      onEnd: (ended) => this.#connections.delete(ended),
      onRetry: (reads, { isRetired }) => {
        // The first such failure on the connection: the prepared statements of all are outdated, or all connections are
        // probably broken.
        if (!isRetired) servers.renew();
        for (const pending of reads) {
          pending.isRetried = true;
          this.#send(pending);
        }
      },
    });
  }
}

/** How many reads of a client are sent, for each connection. */
function readsAhead(meanMillis: number): number {
  return Math.max(1, Math.min(maxReadsOfClient, Math.floor(maxMillisAhead / meanMillis)));
}

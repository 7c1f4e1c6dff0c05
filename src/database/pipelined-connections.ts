import { currentRequest, runAsService, type RequestContext } from '../domain/access/current-request.ts';
import { Connection, ConnectionFailure, type ConnectionOptions } from './connection.ts';
import { LookUps } from './look-ups.ts';
import type { PendingRead, Read } from './pending-read.ts';
import { PreparedStatement } from './prepared-statement.ts';
import type { RecentSubjects } from './recent-subjects.ts';
import { SharedReads } from './shared-reads.ts';
import type { LookUp } from './stores/session.ts';
import { isLoss, isOutdated, isTimeout, throwIfLost } from './driver-errors.ts';

export interface PipelineOptions {
  readonly connection: ConnectionOptions;
  readonly size: number;
  readonly recent: RecentSubjects;
}

/** How often connections with a pending response are checked. */
const watchMillis = 100;

/**
 * A few connections that short reads share: none waits for the responses of earlier ones. The reads of one turn of the event loop are sent
 * at its end by one system call, which is the largest cost of a prepared statement; equal ones are sent once (`SharedReads`), and look-ups
 * of the same kind as one statement (`LookUps`).
 *
 * Model: a read goes to the connection with the least to do. It waits for those before it, so only short reads belong here.
 * Guarantees: every read settles once. Failure: a read that takes too long is canceled; those behind it are retried once on
 * another connection, which is safe because they change nothing. So is a read whose prepared form is gone or outdated by a
 * migration, and one whose connection breaks. A connection without a response in time fails all of its reads: the server is probably gone.
 */
export class PipelinedConnections {
  readonly #options: PipelineOptions;
  readonly #connections = new Set<PipelinedConnection>();
  /** The connections above, and those that only finish their reads. */
  readonly #all = new Set<PipelinedConnection>();
  readonly #watch: NodeJS.Timeout;
  /** The reads of this turn of the event loop. */
  readonly #sharedReads = new SharedReads();
  /** Those of this turn, which are sent at its end. */
  readonly #lookUps = new LookUps((pending) => this.#submit(pending));
  /** The connection of this turn. */
  #current: PipelinedConnection | undefined;
  /** Each sends what a connection has collected in this turn. */
  readonly #uncorks: (() => void)[] = [];
  #isEndScheduled = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), watchMillis).unref();
  }

  /** Throws UNAVAILABLE, or the driver's error. */
  query(read: Read): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      const request = this.#requestUnderWay();
      const pending = this.#sharedReads.add(read, { request, resolve, reject });
      if (pending !== undefined) this.#submit(pending);
    });
  }

  /** The row with this id; throws as `query` does. */
  lookUp(lookUp: LookUp<unknown>, id: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request = this.#requestUnderWay();
      this.#lookUps.add(lookUp, { id, request, resolve, reject });
      this.#scheduleEnd();
    });
  }

  /** Throws when it has lost the database already. */
  #requestUnderWay(): RequestContext | undefined {
    const request = currentRequest();
    this.#options.recent.record(request?.subjectId);
    throwIfLost(request);
    return request;
  }

  /** New reads go to new connections. */
  #renew(): void {
    for (const connection of this.#connections) this.#retire(connection);
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    this.#endTurn();
    await Promise.all([...this.#all].map((connection) => connection.close()));
  }

  #submit(pending: PendingRead): void {
    (this.#current ??= this.#choose()).send(pending);
    this.#scheduleEnd();
  }

  #scheduleEnd(): void {
    if (this.#isEndScheduled) return;
    this.#isEndScheduled = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    for (const pending of this.#lookUps.take()) this.#submit(pending);
    this.#sharedReads.endTurn();
    this.#isEndScheduled = false;
    this.#current = undefined;
    for (const uncork of this.#uncorks.splice(0)) uncork();
  }

  /** The connection for the rest of this turn: a new one if all are busy and the maximum isn't reached, else the one with the least to do. */
  #choose(): PipelinedConnection {
    let chosen: PipelinedConnection | undefined;
    for (const each of this.#connections) if (chosen === undefined || each.pending < chosen.pending) chosen = each;
    if (chosen === undefined || (chosen.pending > 0 && this.#connections.size < this.#options.size)) {
      // All requests share it: what it does later is not done for the one that has opened it.
      chosen = runAsService(() => this.#open());
      this.#connections.add(chosen);
      this.#all.add(chosen);
    }
    // Nothing is sent before the turn has ended: `SharedReads` relies on that.
    this.#uncorks.push(chosen.cork());
    return chosen;
  }

  #open(): PipelinedConnection {
    return new PipelinedConnection(this.#options.connection, {
      onEnd: (ended) => {
        this.#all.delete(ended);
        this.#exclude(ended);
      },
      onUnusable: (connection, pending) => {
        // The first such failure on the connection: the prepared statements of all are outdated, or all connections are probably broken.
        if (this.#connections.has(connection)) this.#renew();
        this.#submit(pending);
      },
      onMoved: (moved) => {
        for (const pending of moved) this.#submit(pending);
      },
    });
  }

  #retire(connection: PipelinedConnection): void {
    this.#exclude(connection);
    connection.retire();
  }

  /** It gets no more reads. */
  #exclude(connection: PipelinedConnection): void {
    this.#connections.delete(connection);
    if (this.#current === connection) this.#current = undefined;
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#all) connection.checkProgress(now);
  }
}

interface Listeners {
  /** It takes no more reads. */
  readonly onEnd: (connection: PipelinedConnection) => void;
  /** Reads to retry on a new connection. */
  readonly onUnusable: (connection: PipelinedConnection, pending: PendingRead) => void;
  /** Reads to retry, because one before them took too long. */
  readonly onMoved: (moved: readonly PendingRead[]) => void;
}

class PipelinedConnection {
  readonly #connection: Connection;
  readonly #listeners: Listeners;
  /** Sent, in their order, or waiting until the connection is open. (An array, as in `http/connection.ts`.) */
  readonly #pending: PendingRead[] = [];
  #isOpen = false;
  #isRetired = false;

  constructor(options: ConnectionOptions, listeners: Listeners) {
    this.#listeners = listeners;
    this.#connection = new Connection({ ...options, isPipelined: true });
    this.#connection.once('end', () => listeners.onEnd(this));
    void this.#open();
  }

  get pending(): number {
    return this.#pending.length;
  }

  checkProgress(now: number): void {
    if (this.#isOpen) this.#connection.checkProgress(now);
  }

  cork(): () => void {
    return this.#connection.cork();
  }

  send(pending: PendingRead): void {
    this.#pending.push(pending);
    if (this.#isOpen) this.#submit(pending);
  }

  /** Finishes its reads, and closes. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfDone();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #open(): Promise<void> {
    try {
      await this.#connection.open();
    } catch (error) {
      this.#listeners.onEnd(this);
      for (const { reject } of this.#pending) reject(error as Error);
      this.#pending.length = 0;
      return;
    }
    this.#isOpen = true;
    const uncork = this.cork();
    for (const pending of this.#pending) this.#submit(pending);
    uncork();
    this.#closeIfDone();
  }

  #submit(pending: PendingRead): void {
    const { name, text, values, decode } = pending.read;
    const statement = new PreparedStatement(name, text, values, decode, pending.message);
    statement.callback = (error, rows = []) => {
      // It may have been moved away.
      const index = this.#pending.indexOf(pending);
      if (index === -1) return;
      this.#pending.splice(index, 1);
      if (this.#pending.length > 0) this.#connection.recordProgress();
      if (error === null) pending.resolve(rows);
      else this.#fail(pending, error);
      this.#closeIfDone();
    };
    void this.#connection.query(statement);
  }

  #fail(pending: PendingRead, error: Error): void {
    // Not after a response timeout: a second wait would take too long.
    const isUnusable = isOutdated(error) || (isLoss(error) && !this.#connection.hasTimedOut);
    if (isUnusable && !pending.isRetried) {
      pending.isRetried = true;
      this.#listeners.onUnusable(this, pending);
      return;
    }
    pending.reject(error);
    if (isTimeout(error)) this.#moveOthers();
  }

  /** Reads behind a slow one have waited as long, perhaps for the same lock: they are retried elsewhere. */
  #moveOthers(): void {
    const others = [...this.#pending];
    this.#pending.length = 0;
    this.#listeners.onEnd(this);
    void this.#connection.abort('a statement took too long');
    const { late = [], moved = [] } = Object.groupBy(others, ({ isRetried }) => (isRetried ? 'late' : 'moved'));
    for (const { reject } of late) reject(new ConnectionFailure(new Error('No response in time')));
    for (const pending of moved) pending.isRetried = true;
    this.#listeners.onMoved(moved);
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#isOpen && this.#pending.length === 0) void this.#connection.close();
  }
}

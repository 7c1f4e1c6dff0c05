import { currentRequest } from '../domain/access/current-request.ts';
import { Connection, ConnectionFailure, type ConnectionOptions } from './connection.ts';
import type { Parameter } from './parameter.ts';
import { PreparedStatement, type Decode } from './prepared-statement.ts';
import type { RecentSubjects } from './recent-subjects.ts';
import { isLoss, isOutdated, isTimeout, recordFailure, throwIfLost } from './driver-errors.ts';

export interface PipelineOptions {
  readonly connection: ConnectionOptions;
  readonly size: number;
  readonly recent: RecentSubjects;
}

type Rows = unknown[];

/** A read under way. */
interface Read {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Parameter[];
  readonly decode: Decode | undefined;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: Error) => void;
  /** It has been retried, and won't be again. */
  isRetried: boolean;
}

/** How often connections with a pending response are checked. */
const watchMillis = 100;

/**
 * A few connections that short reads share: each is sent at once, without waiting for earlier responses, and the reads of
 * one turn of the event loop are sent by one system call, which is the largest cost of a prepared statement.
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
  /** The connection of this turn of the event loop. */
  #current: PipelinedConnection | undefined;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), watchMillis).unref();
  }

  /** Throws UNAVAILABLE, or the driver's error. */
  query(name: string, text: string, values: readonly Parameter[], decode?: Decode): Promise<Rows> {
    const request = currentRequest();
    this.#options.recent.record(request?.subjectId);
    return new Promise((resolve, reject) => {
      throwIfLost(request);
      const fail = (error: Error): void => reject(recordFailure(error, request));
      this.#submit({ name, text, values, decode, resolve, reject: fail, isRetried: false });
    });
  }

  /** New reads go to new connections. */
  #renew(): void {
    for (const connection of this.#connections) this.#retire(connection);
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all([...this.#all].map((connection) => connection.close()));
  }

  #submit(read: Read): void {
    (this.#current ??= this.#choose()).send(read);
  }

  /** The connection for the rest of this turn: a new one if all are busy and the maximum isn't reached, else the one with the least to do. */
  #choose(): PipelinedConnection {
    let chosen: PipelinedConnection | undefined;
    for (const each of this.#connections) if (chosen === undefined || each.pending < chosen.pending) chosen = each;
    if (chosen === undefined || (chosen.pending > 0 && this.#connections.size < this.#options.size)) {
      chosen = new PipelinedConnection(this.#options.connection, {
        onEnd: (ended) => {
          this.#all.delete(ended);
          this.#exclude(ended);
        },
        onUnusable: (connection, read) => {
          // The first such failure on the connection: the prepared statements of all are outdated, or all connections are probably broken.
          if (this.#connections.has(connection)) this.#renew();
          this.#submit(read);
        },
        onMoved: (reads) => {
          for (const read of reads) this.#submit(read);
        },
      });
      this.#connections.add(chosen);
      this.#all.add(chosen);
    }
    const uncork = chosen.cork();
    setImmediate(() => {
      this.#current = undefined;
      uncork();
    });
    return chosen;
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
  readonly onUnusable: (connection: PipelinedConnection, read: Read) => void;
  /** Reads to retry, because one before them took too long. */
  readonly onMoved: (reads: readonly Read[]) => void;
}

class PipelinedConnection {
  readonly #connection: Connection;
  readonly #listeners: Listeners;
  /** Sent, in their order, or waiting until the connection is open. (An array, as in `http/connection.ts`.) */
  readonly #pending: Read[] = [];
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

  send(read: Read): void {
    this.#pending.push(read);
    if (this.#isOpen) this.#submit(read);
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
      for (const read of this.#pending) read.reject(error as Error);
      this.#pending.length = 0;
      return;
    }
    this.#isOpen = true;
    const uncork = this.cork();
    for (const read of this.#pending) this.#submit(read);
    uncork();
    this.#closeIfDone();
  }

  #submit(read: Read): void {
    const statement = new PreparedStatement(read.name, read.text, read.values, read.decode);
    statement.callback = (error, rows = []) => {
      // It may have been moved away.
      const index = this.#pending.indexOf(read);
      if (index === -1) return;
      this.#pending.splice(index, 1);
      if (this.#pending.length > 0) this.#connection.recordProgress();
      if (error === null) read.resolve(rows);
      else this.#fail(read, error);
      this.#closeIfDone();
    };
    void this.#connection.query(statement);
  }

  #fail(read: Read, error: Error): void {
    // Not after a response timeout: a second wait would take too long.
    const isUnusable = isOutdated(error) || (isLoss(error) && !this.#connection.hasTimedOut);
    if (isUnusable && !read.isRetried) {
      read.isRetried = true;
      this.#listeners.onUnusable(this, read);
      return;
    }
    read.reject(error);
    if (isTimeout(error)) this.#moveOthers();
  }

  /** Reads behind a slow one have waited as long, perhaps for the same lock: they are retried elsewhere. */
  #moveOthers(): void {
    const others = [...this.#pending];
    this.#pending.length = 0;
    this.#listeners.onEnd(this);
    void this.#connection.abort('a statement took too long');
    const { late = [], moved = [] } = Object.groupBy(others, ({ isRetried }) => (isRetried ? 'late' : 'moved'));
    for (const read of late) read.reject(new ConnectionFailure(new Error('No response in time')));
    for (const read of moved) read.isRetried = true;
    this.#listeners.onMoved(moved);
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#isOpen && this.#pending.length === 0) void this.#connection.close();
  }
}

import { currentRequest } from '../domain/access/current-subject.ts';
import { Connection, ConnectionFailure, type ConnectionOptions } from './connection.ts';
import { PreparedStatement, type Decode, type Parameter } from './prepared-statement.ts';
import { isLoss, isOutdated, isTimeout, recordFailure, throwIfLost } from './driver-errors.ts';

export interface PipelineOptions {
  readonly connection: ConnectionOptions;
  readonly size: number;
}

type Rows = unknown[];

/** A read on its way to its rows. */
interface Read {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Parameter[];
  readonly decode: Decode | undefined;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: Error) => void;
  /** It has been sent a second time, and won't be a third. */
  isRetried: boolean;
}

/** How often connections are looked at that owe a response. */
const watchMillis = 100;

/**
 * A few connections that short reads share: each is sent at once, without waiting for the answers to those before it, and what is
 * asked for in one turn of the event loop leaves in one piece. A system call is what a prepared statement costs most.
 *
 * Model: a read goes to the connection with the least to do. It waits for those before it, so only such as are surely short belong here.
 * Guarantees: every read is answered once. Failure: a read that takes too long is ended by itself; those behind it are sent again on
 * another connection, once, which they may be because they change nothing. So is a read whose prepared form is gone or outdated by a
 * migration, and one whose connection breaks. A connection that is silent fails all of its reads: the server is likely gone for all of them.
 */
export class PipelinedConnections {
  readonly #options: PipelineOptions;
  readonly #connections = new Set<PipelinedConnection>();
  /** These, and those that only finish what they have. */
  readonly #all = new Set<PipelinedConnection>();
  readonly #watch: NodeJS.Timeout;
  /** The connection of this turn of the event loop. */
  #current: PipelinedConnection | undefined;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#look(), watchMillis).unref();
  }

  /** Throws UNAVAILABLE, or the driver's error. */
  query(name: string, text: string, values: readonly Parameter[], decode?: Decode): Promise<Rows> {
    const request = currentRequest();
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

  /** For the rest of this turn: a new connection while there may be more and all are busy, else the one with the least to do. */
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
          // The first read of the connection that fails so: what all have prepared is outdated, and what ended one has likely ended all.
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

  #look(): void {
    const now = performance.now();
    for (const connection of this.#all) connection.checkProgress(now);
  }
}

interface Listeners {
  /** It takes no more reads. */
  readonly onEnd: (connection: PipelinedConnection) => void;
  /** To be sent again, on a connection that is new. */
  readonly onUnusable: (connection: PipelinedConnection, read: Read) => void;
  /** To be sent again, because one before them took too long. */
  readonly onMoved: (reads: readonly Read[]) => void;
}

class PipelinedConnection {
  readonly #connection: Connection;
  readonly #listeners: Listeners;
  /** Sent, in their order, or waiting until the connection is open. */
  readonly #pending = new Set<Read>();
  #isOpen = false;
  #isRetired = false;

  constructor(options: ConnectionOptions, listeners: Listeners) {
    this.#listeners = listeners;
    this.#connection = new Connection({ ...options, isPipelined: true });
    this.#connection.once('end', () => listeners.onEnd(this));
    void this.#open();
  }

  get pending(): number {
    return this.#pending.size;
  }

  checkProgress(now: number): void {
    if (this.#isOpen) this.#connection.checkProgress(now);
  }

  cork(): () => void {
    return this.#connection.cork();
  }

  send(read: Read): void {
    this.#pending.add(read);
    if (this.#isOpen) this.#submit(read);
  }

  /** Finishes what it has, and closes. */
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
      this.#pending.clear();
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
      if (!this.#pending.delete(read)) return;
      if (this.#pending.size > 0) this.#connection.recordProgress();
      if (error === null) read.resolve(rows);
      else this.#fail(read, error);
      this.#closeIfDone();
    };
    void this.#connection.query(statement);
  }

  #fail(read: Read, error: Error): void {
    // Not on one that was silent: another wait would take too long.
    const isUnusable = isOutdated(error) || (isLoss(error) && !this.#connection.hasTimedOut);
    if (isUnusable && !read.isRetried) {
      read.isRetried = true;
      this.#listeners.onUnusable(this, read);
      return;
    }
    read.reject(error);
    if (isTimeout(error)) this.#moveOthers();
  }

  /** Those behind a slow read have waited as long, and what it waits for, they may as well. */
  #moveOthers(): void {
    const others = [...this.#pending];
    this.#pending.clear();
    this.#listeners.onEnd(this);
    this.#connection.destroy('a statement took too long');
    const { late = [], moved = [] } = Object.groupBy(others, ({ isRetried }) => (isRetried ? 'late' : 'moved'));
    for (const read of late) read.reject(new ConnectionFailure(new Error('No answer in time')));
    for (const read of moved) read.isRetried = true;
    this.#listeners.onMoved(moved);
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#isOpen && this.#pending.size === 0) void this.#connection.close();
  }
}

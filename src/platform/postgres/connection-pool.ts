import { type Caller, type Lease, waiting } from '../callers/index.ts';
import { every, inBackground, within } from '../background.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { PgConnection } from './connection.ts';
import type { OpenOptions } from './connection-options.ts';
import type { Servers } from './servers/servers.ts';
import { ConnectionSlots, type ConnectionSlotsOptions } from './connection-slots.ts';

export interface PoolOptions extends Omit<ConnectionSlotsOptions, 'now'> {
  readonly servers: Servers;
  readonly connection: OpenOptions;
  /** After which an idle connection is closed; undefined for never. */
  readonly idleMillis?: number | undefined;
}

/** A connection that only the caller uses until it is released. */
export interface PooledConnection extends PgConnection {
  /** Call it once. */
  release(): void;
}

interface IdleConnection {
  readonly connection: PooledConnection;
  readonly since: number;
}

/** For the connections in use to be released at the end. */
const endTimeoutMillis = 1_000;

/** How long after the deadline a connection that is being opened may still come: most take a few milliseconds. */
const openGraceMillis = 100;

/** How often connections are checked that have been idle for too long. */
const checkMillis = 1_000;

/**
 * The exclusive connections, for transactions and for statements that may take long.
 *
 * Model: a slot (see `ConnectionSlots`) is for a connection, open or yet to be opened, and leased by client, so that
 * none can take them all. (`pg-pool` destroys a connection for every refused statement, waits forever at the end for a
 * stopped server, knows no clients, and starts three timers for each statement.)
 * Guarantees: a connection is reused only if it is healthy and in no transaction; `end` keeps its timeout.
 */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #slots: ConnectionSlots;
  readonly #all = new Set<PgConnection>();
  /** Last in, first out, so that surplus connections reach the idle timeout. */
  #idle: IdleConnection[] = [];
  readonly #watch: NodeJS.Timeout | undefined;
  /** Aborted at the end: no connection is opened any more. */
  readonly #ending = new AbortController();

  constructor(options: PoolOptions) {
    const { idleMillis } = options;
    this.#options = options;
    this.#slots = new ConnectionSlots(options);
    if (idleMillis !== undefined)
      this.#watch = every(checkMillis, () => this.#closeIdle(({ since }) => performance.now() - since > idleMillis));
    options.servers.onRetire(() => this.#closeIdle(({ connection }) => !connection.isCurrent));
  }

  /** The numbers of open connections, of idle ones, and of those who wait. */
  get figures(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    return { total: this.#all.size, idle: this.#idle.length, waiting: this.#slots.waiting };
  }

  /** See `ConnectionSlots`. */
  get isStuck(): boolean {
    return this.#slots.isStuck;
  }

  /**
   * Throws NoFreeConnection when the wait times out, ConnectionFailure when no connection can be opened, the failure of
   * a caller that was aborted.
   */
  async connect(caller: Caller, isSlow = false): Promise<PooledConnection> {
    if (this.#ending.signal.aborted) throw databaseClosed();
    const deadline = performance.now() + this.#options.waitMillis - caller.waitedMillis;
    const slot = await this.#slots.take(caller, isSlow);
    const connection = this.#idle.pop()?.connection ?? (await waiting(caller, this.#opened(slot, deadline)));
    connection.caller = caller;
    const release = (): void => this.#release(connection, slot);
    connection.release = release;
    if (caller.failure === undefined) return connection;
    release();
    throw caller.failure;
  }

  /** Runs one statement. A refused statement keeps its connection. */
  async run<Result>(
    caller: Caller,
    work: (connection: PgConnection) => Promise<Result>,
    isSlow = false,
  ): Promise<Result> {
    const connection = await this.connect(caller, isSlow);
    try {
      return await work(connection);
    } finally {
      connection.release();
    }
  }

  /** Waits for the connections in use until a timeout, and closes all. */
  async end(): Promise<void> {
    this.#ending.abort();
    this.#slots.refuseWaiting(databaseClosed());
    this.#closeIdle(() => true);
    const open = [...this.#all];
    const destroy = (): void => open.forEach((connection) => connection.destroy('the service is stopping'));
    const deadline = setTimeout(destroy, endTimeoutMillis);
    await Promise.all(open.map((connection) => new Promise((resolve) => connection.once('end', resolve))));
    clearTimeout(deadline);
    clearInterval(this.#watch);
  }

  /** Opens a connection for the slot, or fails at the deadline and leaves the connection to the next one that waits. */
  async #opened(slot: Pick<Lease, 'release'>, deadline: number): Promise<PooledConnection> {
    const opening = this.#open(slot);
    const opened = await within(Math.max(0, deadline + openGraceMillis - performance.now()), opening);
    if (opened !== undefined) return opened;
    opening.then(
      (connection) => this.#release(connection, slot),
      () => undefined,
    );
    throw new ConnectionFailure(new Error('No connection in time'));
  }

  async #open(slot: Pick<Lease, 'release'>): Promise<PooledConnection> {
    try {
      const { servers, connection: options } = this.#options;
      const connection = (await servers.open(options, this.#ending.signal)) as PooledConnection;
      this.#all.add(connection);
      connection.once('end', () => {
        this.#all.delete(connection);
        this.#idle = this.#idle.filter((each) => each.connection !== connection);
      });
      return connection;
    } catch (error) {
      slot.release();
      throw error;
    }
  }

  #release(connection: PooledConnection, slot: Pick<Lease, 'release'>): void {
    connection.caller = undefined;
    const isWanted = connection.isCurrent && !this.#ending.signal.aborted;
    if (isWanted && isInOrder(connection)) this.#idle.push({ connection, since: performance.now() });
    else this.#discard(connection);
    slot.release();
  }

  #discard(connection: PgConnection): void {
    inBackground(isInOrder(connection) ? connection.close() : connection.abort('not in order'));
  }

  #closeIdle(mustClose: (idle: IdleConnection) => boolean): void {
    const closed = this.#idle.filter(mustClose);
    this.#idle = this.#idle.filter((each) => !closed.includes(each));
    for (const { connection } of closed) this.#discard(connection);
  }
}

function databaseClosed(): ConnectionFailure {
  return new ConnectionFailure(new Error('Connection terminated: the database is closed'));
}

/** Open, in no transaction, and with no pending cancel request that could end the next client's statement. */
function isInOrder(connection: PgConnection): boolean {
  return !connection.isLost && connection.getTransactionStatus() === 'I' && !connection.isCancelling;
}

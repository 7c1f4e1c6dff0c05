import { type Accounts, type Caller, type Lease, service, Share, type ShareLimit } from '../callers/index.ts';

/** No connection was free in time. MikroORM wraps errors and keeps their `code`. */
export class NoFreeConnection extends Error {
  override readonly name = 'NoFreeConnection';
  readonly code = 'NO_FREE_CONNECTION';
  /** In words for the client. */
  readonly waitedFor: string;

  constructor(waitedFor: string) {
    super(`No connection was free in time: waited for ${waitedFor}`);
    this.waitedFor = waitedFor;
  }
}

export interface ConnectionSlotsOptions {
  readonly accounts: Accounts;
  /** The maximum number of connections at a time. */
  readonly size: number;
  /** The maximum for one client, and for the slow statements of all clients together. */
  readonly ofClient: number;
  readonly waitMillis: number;
  /** Called when a wait has timed out. */
  readonly onRefusal?: (() => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** Longer than transactions take: each of their statements ends within about one wait. */
const stuckAfterWaits = 5;

/**
 * Schedules the use of a limited number of connections.
 *
 * Model: each client has two shares (see `Share`): of all connections, and of those for slow statements, counts and
 * searches, which may take much of the database's processors.
 * Guarantees: no client has more than its part, even while a connection is free; slow statements of all clients
 * together have no more than one part either, so that others don't find every connection in use by them; while other
 * clients use the database, the slow statements of one run one by one. How long a connection was used counts for its
 * client. The service's own work is limited by the capacity only.
 */
export class ConnectionSlots {
  readonly #connections: Share;
  readonly #slow: Share;
  readonly #size: number;
  readonly #stuckMillis: number;
  readonly #now: () => number;
  /** When a slot was last taken or released. */
  #usedAt = 0;

  constructor(options: ConnectionSlotsOptions) {
    const { accounts, size, ofClient, waitMillis, onRefusal, now = () => performance.now() } = options;
    const refuseFor =
      (waitedFor: Readonly<Record<ShareLimit, string>>) =>
      (limit: ShareLimit): Error => {
        onRefusal?.();
        return new NoFreeConnection(waitedFor[limit]);
      };
    this.#size = size;
    this.#stuckMillis = stuckAfterWaits * waitMillis;
    this.#now = now;
    this.#connections = new Share(accounts, {
      ofClient: (_clients, clientId) => (clientId === service ? size : ofClient),
      ofAll: size,
      waitMillis,
      refuse: refuseFor({
        client: `one of your key's ${ofClient} database connections`,
        all: `one of the ${size} database connections`,
      }),
    });
    this.#slow = new Share(accounts, {
      ofClient: (_clients, clientId) => (accounts.hasOthers(clientId) ? 1 : ofClient),
      ofAll: ofClient,
      waitMillis,
      refuse: refuseFor({
        client: 'an earlier slow statement of your key',
        all: `one of the ${ofClient} database connections for slow statements`,
      }),
    });
  }

  get waiting(): number {
    return this.#connections.waiting + this.#slow.waiting;
  }

  /**
   * All connections are in use, and none was released for longer than their statements may take: a wait would be in
   * vain.
   */
  get isStuck(): boolean {
    return this.#connections.held >= this.#size && this.#now() - this.#usedAt > this.#stuckMillis;
  }

  /** Throws NoFreeConnection, or the reason for which the caller was aborted. */
  async take(caller: Caller, isSlow: boolean): Promise<Pick<Lease, 'release'>> {
    const slow = isSlow ? await this.#slow.take(caller) : undefined;
    try {
      const lease = await this.#connections.take(caller);
      const startedAt = this.#now();
      this.#usedAt = startedAt;
      return {
        release: () => {
          this.#usedAt = this.#now();
          lease.release(this.#usedAt - startedAt);
          slow?.release();
        },
      };
    } catch (error) {
      slow?.release();
      throw error;
    }
  }

  refuseWaiting(error: Error): void {
    this.#slow.refuseWaiting(error);
    this.#connections.refuseWaiting(error);
  }
}

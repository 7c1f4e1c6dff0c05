import type { SecureContext } from 'node:tls';

import { within } from '../background.ts';
import { type Connection, ConnectTimeoutError, createReceiverContext, openConnection } from './connection.ts';
import type { Destinations } from './destination.ts';

/** A receiver's address may have moved: a name is resolved again at every connection, and none lasts for longer. */
const maxAgeMillis = 60_000;
const connectMillis = 3_000;
/** Of the addresses of one name, so many are tried, one after another. */
const maxAddresses = 4;
/** Requests under way to one address, whatever names lead there. */
const maxPerAddress = 8;
/** Idle connections, to all origins together. */
const maxIdle = 256;

/** All slots of an address are taken: the request can be sent later. */
export class AddressBusyError extends Error {}

/** A connection could not be opened to any of the addresses. */
export class ConnectError extends Error {
  constructor(cause: unknown) {
    super('the receiver could not be connected to', { cause });
    this.name = 'ConnectError';
  }
}

/** The connections of a process to receivers. */
export class Connections {
  readonly #destinations: Destinations;
  readonly #idle = new Map<string, Connection[]>();
  readonly #underWay = new Map<string, number>();
  /** One for all: it takes a fifth of a handshake to make. */
  readonly #secureContext: SecureContext;
  #isClosed = false;

  constructor(destinations: Destinations) {
    this.#destinations = destinations;
    this.#secureContext = createReceiverContext(destinations.certificates);
  }

  /**
   * A connection to the URL's host, which has a slot of its address until `release` or `destroy`: an idle one, or one
   * that is opened before a moment (monotonic time). Throws DestinationError, AddressBusyError and ConnectError.
   */
  async take(url: URL, isTrusted: boolean, endsAt: number): Promise<Connection> {
    return this.#takeIdle(keyOf(url, isTrusted)) ?? this.open(url, isTrusted, endsAt);
  }

  async open(url: URL, isTrusted: boolean, endsAt: number): Promise<Connection> {
    const leftMillis = Math.max(0, endsAt - performance.now());
    const addresses = (await within(leftMillis, this.#destinations.addressesOf(url, isTrusted))) ?? [];
    const connectEndsAt = Math.min(performance.now() + connectMillis, endsAt);
    let failure: unknown = new ConnectTimeoutError();
    for (const address of addresses.slice(0, maxAddresses)) {
      const leftToConnect = connectEndsAt - performance.now();
      if (leftToConnect <= 0) break;
      this.#takeSlot(address);
      try {
        const target = { url, key: keyOf(url, isTrusted), address, secureContext: this.#secureContext };
        return await openConnection(target, leftToConnect);
      } catch (error) {
        this.#releaseSlot(address);
        failure = error;
      }
    }
    throw new ConnectError(failure);
  }

  /** The request has ended, and the connection may take another one. */
  release(connection: Connection): void {
    const { key, openedAt, isReused } = connection;
    const isOld = performance.now() - openedAt > maxAgeMillis;
    if (this.#isClosed || connection.isDestroyed || isOld || this.#idleCount >= maxIdle)
      return this.destroy(connection);
    this.#releaseSlot(connection.address);
    this.#idle.set(key, [...(this.#idle.get(key) ?? []), connection]);
    if (!isReused) connection.onClose(() => this.#remove(connection));
    connection.isReused = true;
    return undefined;
  }

  destroy(connection: Connection): void {
    this.#releaseSlot(connection.address);
    connection.destroy();
  }

  /** Connections that are in use are closed when they are released. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#idle.values()].flat()) connection.destroy();
    this.#idle.clear();
  }

  get #idleCount(): number {
    return [...this.#idle.values()].reduce((sum, { length }) => sum + length, 0);
  }

  #takeIdle(key: string): Connection | undefined {
    const idle = this.#idle.get(key) ?? [];
    const youngest = idle.at(-1);
    if (youngest === undefined) return undefined;
    if (performance.now() - youngest.openedAt > maxAgeMillis) {
      this.#idle.delete(key);
      for (const each of idle) each.destroy();
      return undefined;
    }
    this.#takeSlot(youngest.address);
    this.#remove(youngest);
    return youngest;
  }

  #remove(connection: Connection): void {
    const left = (this.#idle.get(connection.key) ?? []).filter((each) => each !== connection);
    if (left.length === 0) this.#idle.delete(connection.key);
    else this.#idle.set(connection.key, left);
  }

  #takeSlot(address: string): void {
    const count = this.#underWay.get(address) ?? 0;
    if (count >= maxPerAddress) throw new AddressBusyError(address);
    this.#underWay.set(address, count + 1);
  }

  #releaseSlot(address: string): void {
    const count = (this.#underWay.get(address) ?? 0) - 1;
    if (count > 0) this.#underWay.set(address, count);
    else this.#underWay.delete(address);
  }
}

function keyOf({ origin }: URL, isTrusted: boolean): string {
  return `${isTrusted ? 'trusted' : 'public'} ${origin}`;
}

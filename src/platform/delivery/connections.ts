import { constants } from 'node:crypto';
import type { Socket } from 'node:net';

import { buildConnector, Client, errors } from 'undici';

import { type Destinations, hostOf, portOf } from './destination.ts';

/** A receiver's address may have moved: a name is resolved again at every connection, and none lasts for longer. */
const maxAgeMillis = 60_000;
const idleMillis = 10_000;
const connectMillis = 3_000;
/** Of the addresses of one name, so many are tried, one after another. */
const maxAddresses = 4;
/** Requests under way to one address, whatever names lead there. */
const maxPerAddress = 8;
const maxHeaderBytes = 16 * 1024;

/** All slots of an address are taken: the request can be sent later. */
export class AddressBusyError extends Error {}

/** A connection could not be opened to any of the addresses. */
export class ConnectError extends Error {
  constructor(cause: unknown) {
    super('the receiver could not be connected to', { cause });
    this.name = 'ConnectError';
  }
}

/** One connection to the address that was checked, with a request at a time. It never connects a second time. */
export interface Connection {
  readonly client: Client;
  readonly origin: string;
  readonly address: string;
  readonly isReused: boolean;
  /** Monotonic time. */
  readonly openedAt: number;
}

/** The connections of a process to receivers. */
export class Connections {
  readonly #destinations: Destinations;
  readonly #idle = new Map<string, Connection[]>();
  readonly #underWay = new Map<string, number>();

  constructor(destinations: Destinations) {
    this.#destinations = destinations;
  }

  /**
   * A connection to the URL's host, which has a slot of its address until `release` or `destroy`. Throws
   * DestinationError, AddressBusyError and ConnectError.
   */
  async take(url: URL, isFresh: boolean): Promise<Connection> {
    const idle = isFresh ? undefined : this.#takeIdle(url.origin);
    if (idle !== undefined) return idle;
    const addresses = await this.#destinations.addressesOf(url);
    const endsAt = performance.now() + connectMillis;
    let failure: unknown;
    for (const address of addresses.slice(0, maxAddresses)) {
      const leftMillis = endsAt - performance.now();
      if (leftMillis <= 0) break;
      this.#takeSlot(address);
      try {
        return await this.#open(url, address, leftMillis);
      } catch (error) {
        this.#releaseSlot(address);
        failure = error;
      }
    }
    throw new ConnectError(failure);
  }

  /** The request has ended, and the connection may take another one. */
  release(connection: Connection): void {
    this.#releaseSlot(connection.address);
    const { client, origin, openedAt } = connection;
    if (client.destroyed || performance.now() - openedAt > maxAgeMillis) return destroy(connection);
    const idle = this.#idle.get(origin) ?? [];
    this.#idle.set(origin, [...idle, { ...connection, isReused: true }]);
    return undefined;
  }

  destroy(connection: Connection): void {
    this.#releaseSlot(connection.address);
    destroy(connection);
  }

  close(): void {
    for (const connection of [...this.#idle.values()].flat()) destroy(connection);
    this.#idle.clear();
  }

  #takeIdle(origin: string): Connection | undefined {
    const idle = this.#idle.get(origin) ?? [];
    const youngest = idle.at(-1);
    if (youngest === undefined) return undefined;
    if (performance.now() - youngest.openedAt > maxAgeMillis) {
      this.#idle.delete(origin);
      for (const each of idle) destroy(each);
      return undefined;
    }
    this.#takeSlot(youngest.address);
    this.#remove(youngest);
    return youngest;
  }

  #remove({ client, origin }: Connection): void {
    const left = (this.#idle.get(origin) ?? []).filter((each) => each.client !== client);
    if (left.length === 0) this.#idle.delete(origin);
    else this.#idle.set(origin, left);
  }

  async #open(url: URL, address: string, timeout: number): Promise<Connection> {
    const { origin } = url;
    const servername = hostOf(url).replace(/\.$/, '');
    const connect = buildConnector({
      timeout,
      maxCachedSessions: 0,
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    });
    const socket = await new Promise<Socket>((resolve, reject) => {
      connect(
        { hostname: address, host: url.host, protocol: url.protocol, port: String(portOf(url)), servername },
        (error, opened) => (opened ? resolve(opened) : reject(error ?? new Error('no socket'))),
      );
    });
    let isTaken = false;
    const client = new Client(origin, {
      connect: (_options, callback) => {
        if (isTaken) return callback(new errors.ClientDestroyedError(), null);
        isTaken = true;
        // undici 7.30.2 never goes on when it is called back at once.
        return queueMicrotask(() => callback(null, socket));
      },
      pipelining: 1,
      keepAliveTimeout: idleMillis,
      keepAliveMaxTimeout: maxAgeMillis,
      maxHeaderSize: maxHeaderBytes,
      allowH2: false,
    });
    const connection: Connection = { client, origin, address, isReused: false, openedAt: performance.now() };
    client.once('disconnect', () => {
      this.#remove(connection);
      destroy(connection);
    });
    return connection;
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

/** Whatever it was doing; its failure is known already. */
function destroy({ client }: Connection): void {
  client.destroy().catch(() => undefined);
}

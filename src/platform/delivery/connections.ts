import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

import { buildConnector, Client, errors } from 'undici';

import { within } from '../background.ts';
import { type Destinations, portOf } from './destination.ts';

/** A receiver's address may have moved: a name is resolved again at every connection, and none lasts for longer. */
const maxAgeMillis = 60_000;
const idleMillis = 10_000;
const connectMillis = 3_000;
/** One after another: a TLS handshake takes more than a millisecond of the event loop. */
const connectEveryMillis = 5;
/** Of the addresses of one name, so many are tried, one after another. */
const maxAddresses = 4;
/** Requests under way to one address, whatever names lead there. */
const maxPerAddress = 8;
/** Idle connections, to all origins together. */
const maxIdle = 256;
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
  readonly socket: Socket;
  /** Of the origin, for receivers that are trusted or not: they may have other addresses. */
  readonly key: string;
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
  /** Resolves when the next one may be opened. */
  #turn: Promise<void> = Promise.resolve();
  /** One for all: it takes a fifth of a handshake to make. */
  readonly #secureContext: SecureContext;
  #isClosed = false;

  constructor(destinations: Destinations) {
    this.#destinations = destinations;
    const { certificates } = destinations;
    this.#secureContext = createSecureContext({
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...(certificates !== undefined && { ca: [...getCACertificates('default'), certificates] }),
    });
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
    let failure: unknown = new errors.ConnectTimeoutError();
    for (const address of addresses.slice(0, maxAddresses)) {
      const leftToConnect = connectEndsAt - performance.now();
      if (leftToConnect <= 0) break;
      this.#takeSlot(address);
      try {
        await within(leftToConnect, this.#takeTurn());
        const leftNow = Math.max(1, connectEndsAt - performance.now());
        return await this.#open(url, keyOf(url, isTrusted), address, leftNow);
      } catch (error) {
        this.#releaseSlot(address);
        failure = error;
      }
    }
    throw new ConnectError(failure);
  }

  #takeTurn(): Promise<void> {
    const turn = this.#turn;
    this.#turn = turn.then(() => wait(connectEveryMillis));
    return turn;
  }

  /** The request has ended, and the connection may take another one. */
  release(connection: Connection): void {
    const { client, key, openedAt } = connection;
    const isOld = performance.now() - openedAt > maxAgeMillis;
    if (this.#isClosed || client.destroyed || isOld || this.#idleCount >= maxIdle) return this.destroy(connection);
    this.#releaseSlot(connection.address);
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, [...idle, { ...connection, isReused: true }]);
    return undefined;
  }

  destroy(connection: Connection): void {
    this.#releaseSlot(connection.address);
    destroy(connection);
  }

  /** Connections that are in use are closed when they are released. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#idle.values()].flat()) destroy(connection);
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
      for (const each of idle) destroy(each);
      return undefined;
    }
    this.#takeSlot(youngest.address);
    this.#remove(youngest);
    return youngest;
  }

  #remove({ client, key }: Connection): void {
    const left = (this.#idle.get(key) ?? []).filter((each) => each.client !== client);
    if (left.length === 0) this.#idle.delete(key);
    else this.#idle.set(key, left);
  }

  async #open(url: URL, key: string, address: string, timeout: number): Promise<Connection> {
    const { origin, hostname, protocol } = url;
    const connect = buildConnector({
      timeout,
      maxCachedSessions: 0,
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED is.
      rejectUnauthorized: true,
      secureContext: this.#secureContext,
    });
    const socket = await new Promise<Socket>((resolve, reject) => {
      // The certificate is checked for the host, of which it has no dot at the end.
      const host = hostname.replace(/\.$/, '');
      connect({ hostname: address, host, protocol, port: String(portOf(url)) }, (error, opened) =>
        opened ? resolve(opened) : reject(error ?? new Error('no socket')),
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
    const connection = { client, socket, key, address, isReused: false, openedAt: performance.now() };
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

function keyOf({ origin }: URL, isTrusted: boolean): string {
  return `${isTrusted ? 'trusted' : 'public'} ${origin}`;
}

/** Whatever it was doing; its failure is known already. A client that has sent nothing doesn't know its socket. */
function destroy({ client, socket }: Connection): void {
  client.destroy().catch(() => undefined);
  socket.destroy();
}

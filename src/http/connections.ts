import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

import type { OnRefusal } from './bounds.ts';
import { Connection, type ConnectionLimits } from './connection.ts';
import { HttpError } from './error-table.ts';
import { StartTurns } from './start-turns.ts';

/** The limits of connections. Tests lower them. */
export interface ConnectionsLimits extends ConnectionLimits {
  readonly maxConnections: number;
  /** The bytes of unread responses, of one key and of all clients. */
  readonly maxUnreadBytesOfKey: number;
  readonly maxUnreadBytesOfAll: number;
  /** How long a response may make no write progress. */
  readonly stallMillis: number;
  /** The interval of progress checks. */
  readonly checkEveryMillis: number;
  /** How long requests start in one turn of the event loop as they are read; see `StartTurns`. */
  readonly turnMillis: number;
}

const mebibyte = 1024 * 1024;

const defaultLimits: ConnectionsLimits = {
  maxConnections: 10_000,
  maxRequests: 32,
  maxUnreadBytes: mebibyte,
  maxUnreadBytesOfKey: 32 * mebibyte,
  maxUnreadBytesOfAll: 256 * mebibyte,
  stallMillis: 120_000,
  checkEveryMillis: 250,
  turnMillis: 10,
};

/** How long a sum over all connections is cached. */
const measureEveryMillis = 50;

const retryAfterSeconds = 5;

/**
 * The open connections, the requests under way on each, and their unread response bytes.
 *
 * Node's own `closeIdleConnections` counts a response as complete when its last byte is queued, and cuts off a client that is still
 * reading; here it is complete when that byte has been sent.
 *
 * A request is refused before it is executed while its key, or all clients together, have too many unread bytes. Requests under way may
 * still add to them: beyond twice the limit of all, the connection with the most is closed.
 */
export class Connections {
  readonly #limits: ConnectionsLimits;
  readonly #onRefusal: OnRefusal;
  readonly #connections = new Map<Socket, Connection>();
  readonly #turns: StartTurns;
  readonly #unreadOfKeys = new Map<string, number>();
  #unreadOfAll = 0;
  #measuredAt = -Infinity;
  #underWay = 0;
  #isDraining = false;
  #isClosing = false;

  constructor(server: Server, onRefusal: OnRefusal, limits: Partial<ConnectionsLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#turns = new StartTurns(this.#limits.turnMillis);
    this.#onRefusal = onRefusal;
    server.maxConnections = this.#limits.maxConnections;
    server.on('drop', () => onRefusal('connections'));
    server.on('connection', (socket) => {
      const connection = new Connection(socket, this.#limits, this.#turns, () => onRefusal('connection_requests'));
      this.#connections.set(socket, connection);
      socket.once('close', () => {
        this.#connections.delete(socket);
        // Node 24 closes the responses itself; before that, one that is behind another never closes.
        setImmediate(() => {
          for (const response of connection.started.slice()) response.emit('close');
        });
      });
    });
    // `close` calls it.
    server.closeIdleConnections = () => {
      this.#closeIdle();
    };
    server.once('listening', () => {
      const checking = setInterval(() => this.#check(), this.#limits.checkEveryMillis).unref();
      server.once('close', () => clearInterval(checking));
    });
  }

  /** Requests that have started and whose responses haven't been sent. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Requests that have started, have arrived completely, and have no response yet. */
  countWaiting(): number {
    let waiting = 0;
    for (const { started } of this.#connections.values())
      for (const response of started) if (!response.headersSent && response.req.complete) waiting += 1;
    return waiting;
  }

  /** Calls the listener when the request's connection has a free slot and a turn. */
  accept(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    connection.accept(request, response, () => {
      this.#underWay += 1;
      if (this.#isDraining) response.shouldKeepAlive = false;
      // It comes once. (`once` would remove the listener, which costs a hundred times as much as calling it.)
      response.on('close', () => this.#end(connection, request, response));
      listener(request, response);
    });
  }

  responsesOn(socket: Socket): readonly ServerResponse[] {
    return this.#connections.get(socket)?.responses ?? [];
  }

  /** Whether the next bytes on the connection may be the rest of a body whose request has had its response. */
  isBodyUnfinished(socket: Socket): boolean {
    return this.#connections.get(socket)?.unfinishedRequest?.complete === false;
  }

  /** Records the key whose response is sent on the connection. Throws UNAVAILABLE while there are too many unread bytes. */
  requireUnreadBelowLimits(socket: Socket, keyId: string): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.keyId = keyId;
    this.#measure();
    const { maxUnreadBytesOfKey, maxUnreadBytesOfAll } = this.#limits;
    if ((this.#unreadOfKeys.get(keyId) ?? 0) > maxUnreadBytesOfKey) {
      this.#onRefusal('unread_responses');
      const message = `More than ${maxUnreadBytesOfKey} bytes of responses to this key wait to be read: read them, or close their connections.`;
      throw new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
    }
    if (this.#unreadOfAll > maxUnreadBytesOfAll) {
      this.#onRefusal('unread_responses');
      const message = 'Too many responses wait to be read at the moment. Try again in a few seconds.';
      throw new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
    }
  }

  /** From now on every response has `Connection: close`. */
  startDraining(): void {
    this.#isDraining = true;
    for (const { started } of this.#connections.values()) {
      for (const response of started) if (!response.headersSent) response.shouldKeepAlive = false;
    }
  }

  destroyAll(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }

  #end(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    this.#underWay -= 1;
    connection.end(request, response);
    if (this.#isClosing && connection.isIdle) connection.destroySoon();
  }

  #closeIdle(): void {
    this.#isClosing = true;
    for (const connection of this.#connections.values()) if (connection.isIdle) connection.destroySoon();
  }

  #measure(): void {
    const now = performance.now();
    if (now - this.#measuredAt < measureEveryMillis) return;
    this.#measuredAt = now;
    this.#unreadOfAll = 0;
    this.#unreadOfKeys.clear();
    for (const { keyId, unreadBytes } of this.#connections.values()) {
      // Without a key there are only pages, which share their bytes, and short refusals.
      if (keyId === undefined || unreadBytes === 0) continue;
      this.#unreadOfAll += unreadBytes;
      this.#unreadOfKeys.set(keyId, (this.#unreadOfKeys.get(keyId) ?? 0) + unreadBytes);
    }
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#connections.values()) {
      if (connection.stalledMillis(now) >= this.#limits.stallMillis) this.#cutOff(connection);
      else connection.startQueued();
    }
    this.#measure();
    if (this.#unreadOfAll <= 2 * this.#limits.maxUnreadBytesOfAll) return;
    const [largest] = [...this.#connections.values()].toSorted((a, b) => b.unreadBytes - a.unreadBytes);
    if (largest !== undefined) this.#cutOff(largest);
  }

  #cutOff(connection: Connection): void {
    this.#onRefusal('unread_responses');
    connection.destroy();
  }
}

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

import type { Accounts } from '../../account/accounts.ts';
import type { Callers } from '../../account/caller.ts';
import { Share } from '../../account/share.ts';
import type { TickTime } from '../../account/tick-time.ts';
import type { OnRefusal } from './bounds.ts';
import { ClientConnection, type UnwrittenPayload } from './connection.ts';
import { HttpError } from '../error-table.ts';

/** The limits of connections. Tests lower them. */
export interface ConnectionsLimits {
  readonly maxConnections: number;
  /** Requests of one connection that are read while another is under way. */
  readonly maxReadAhead: number;
  /** The bytes of unread responses, of one client (a key, or an address without one) and of all. */
  readonly maxUnreadBytesOfClient: number;
  readonly maxUnreadBytesOfAll: number;
  /** How long a response may make no write progress. */
  readonly stallMillis: number;
  /** The interval of progress checks. */
  readonly checkEveryMillis: number;
}

const mebibyte = 1024 * 1024;

const defaultLimits: ConnectionsLimits = {
  maxConnections: 10_000,
  maxReadAhead: 16,
  maxUnreadBytesOfClient: 32 * mebibyte,
  maxUnreadBytesOfAll: 128 * mebibyte,
  stallMillis: 120_000,
  checkEveryMillis: 250,
};

/** How often what all connections have unread is counted, and after how many requests. */
const measureEveryMillis = 50;
const measureEveryRequests = 32;

const retryAfterSeconds = 5;

/**
 * How long a connection without a request stays open after listening has stopped: a proxy doesn't repeat a POST that it
 * has sent.
 */
const firstRequestMillis = 1_000;

/** Probes are answered before others that wait. */
const urgentTarget = /^\/(?:healthz|readyz)(?:\?|$)/;

/**
 * The open connections, the request under way on each, and their unread response bytes.
 *
 * Node's own `closeIdleConnections` counts a response as complete when its last byte is queued, and cuts off a client
 * that is still reading; here it is complete when that byte has been sent.
 *
 * A request is refused before it is executed while its client, or all together, have too many unread bytes. Requests
 * under way may still add to them: beyond twice the limit of all, the connection with the most is reset.
 */
export class ClientConnections {
  readonly #limits: ConnectionsLimits;
  readonly #onRefusal: OnRefusal;
  readonly #connections = new Map<Socket, ClientConnection>();
  readonly ticks: TickTime;
  /** The unread bytes, as last measured. */
  readonly #unread: Share;
  #measuredAt = -Infinity;
  #sinceMeasured = 0;
  #underWay = 0;
  #isDraining = false;
  #isClosing = false;

  constructor(
    server: Server,
    { accounts, ticks }: Callers,
    clientOf: (request: IncomingMessage) => string,
    onRefusal: OnRefusal,
    limits: Partial<ConnectionsLimits> = {},
  ) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#unread = unreadShare(accounts, onRefusal, this.#limits);
    this.ticks = ticks;
    this.#onRefusal = onRefusal;
    server.maxConnections = this.#limits.maxConnections;
    server.on('drop', () => onRefusal('connections'));
    server.on('connection', (socket) => {
      this.ticks.accept();
      const connection = new ClientConnection(socket, {
        maxReadAhead: this.#limits.maxReadAhead,
        ticks: this.ticks,
        clientOf,
        onFull: () => onRefusal('connection_requests'),
      });
      this.#connections.set(socket, connection);
      socket.once('close', () => {
        this.#connections.delete(socket);
        connection.uncountArrived();
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

  /** Counts in the clients' accounts the requests that have arrived completely and have no response yet. */
  countArrived(share: Share): void {
    for (const connection of this.#connections.values()) connection.countArrived(share);
  }

  /** Calls the listener when the request before it on the connection has ended, and it may start. */
  accept(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const connection = this.#connections.get(request.socket);
    const begin = (): void => {
      if (connection === undefined) return;
      this.#underWay += 1;
      connection.clientId = undefined;
      if (this.#isDraining) response.shouldKeepAlive = false;
      // It comes once. (`once` would remove the listener, which costs a hundred times as much as calling it.)
      response.on('close', () => this.#end(connection, request));
      listener(request, response);
    };
    if (request.headers['transfer-encoding'] !== undefined) {
      connection?.countChunks(request);
      discardCounted(request, response);
    }
    connection?.accept(response, begin, urgentTarget.test(request.url ?? ''));
  }

  /** The response under way on the connection, or the next one. */
  currentOn(socket: Socket): ServerResponse | undefined {
    return this.#connections.get(socket)?.current;
  }

  /** The response on the connection goes on until somebody ends it: from now on it isn't among those under way. */
  beginStream(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.isStreaming) return;
    connection.isStreaming = true;
    this.#underWay -= 1;
  }

  /** Whether the next bytes on the connection may be the rest of a body whose request has had its response. */
  isBodyUnfinished(socket: Socket): boolean {
    return this.#connections.get(socket)?.unfinishedRequest?.complete === false;
  }

  /** Records the client that the response is for. Returns UNAVAILABLE while there are too many unread bytes. */
  findUnread(socket: Socket, clientId: string): Error | undefined {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return undefined;
    connection.clientId = clientId;
    this.#sinceMeasured += 1;
    if (this.#sinceMeasured > measureEveryRequests || performance.now() - this.#measuredAt >= measureEveryMillis)
      this.#measure();
    return this.#unread.findRefusal(clientId);
  }

  /** What the response under way on the connection has still to write is unread, too. */
  countAsUnread(socket: Socket, payload: UnwrittenPayload): void {
    const connection = this.#connections.get(socket);
    if (connection !== undefined) connection.unwritten = payload;
  }

  /** From now on every response has `Connection: close`. */
  startDraining(): void {
    this.#isDraining = true;
    for (const { underWay } of this.#connections.values())
      if (underWay !== undefined && !underWay.headersSent) underWay.shouldKeepAlive = false;
  }

  destroyAll(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }

  #end(connection: ClientConnection, request: IncomingMessage): void {
    if (!connection.isStreaming) this.#underWay -= 1;
    connection.isStreaming = false;
    connection.end(request);
    if (this.#isClosing && connection.isIdle) connection.destroySoon();
  }

  /** Right after the next poll of the event loop, so that requests that have arrived by then are under way. */
  #closeIdle(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    setImmediate(() => {
      for (const connection of this.#connections.values())
        if (connection.isIdle && !connection.isNew) connection.destroySoon();
    });
    const closeNew = (): void => {
      for (const connection of this.#connections.values()) if (connection.isIdle) connection.destroySoon();
    };
    setTimeout(closeNew, firstRequestMillis).unref();
  }

  #measure(): void {
    this.#measuredAt = performance.now();
    this.#sinceMeasured = 0;
    for (const connection of this.#connections.values()) connection.countUnread(this.#unread);
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#connections.values())
      if (connection.stalledMillis(now) >= this.#limits.stallMillis) this.#cutOff(connection);
    this.#measure();
    if (this.#unread.held <= 2 * this.#limits.maxUnreadBytesOfAll) return;
    const [largest] = [...this.#connections.values()].toSorted((a, b) => b.unreadBytes - a.unreadBytes);
    if (largest !== undefined) this.#cutOff(largest);
  }

  #cutOff(connection: ClientConnection): void {
    this.#onRefusal('unread_responses');
    connection.reset();
  }
}

function unreadShare(
  accounts: Accounts,
  onRefusal: OnRefusal,
  { maxUnreadBytesOfClient: ofClient, maxUnreadBytesOfAll: ofAll }: ConnectionsLimits,
): Share {
  return new Share(accounts, {
    ofClient,
    ofAll,
    refuse: (refusal) => {
      onRefusal('unread_responses');
      const message =
        refusal === 'client'
          ? `More than ${ofClient} bytes of responses to this client wait to be read: read them, or close their connections.`
          : 'Too many responses wait to be read at the moment. Try again in a few seconds.';
      return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
    },
  });
}

/** Discards what arrives of the body after its response, before Node does, which would parse it uncounted. */
function discardCounted(request: IncomingMessage, response: ServerResponse): void {
  response.prependListener('finish', () => {
    if (!request.complete) request.resume();
  });
}

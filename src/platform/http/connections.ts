import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

import type { Caller, Callers, Memory, RequestMemory, Share, TickTime } from '../callers/index.ts';
import { every } from '../background.ts';
import type { OnRefusal } from './bounds.ts';
import { ClientConnection, type UnwrittenPayload } from './connection.ts';

/** The limits of connections. Tests lower them. */
export interface ConnectionsLimits {
  readonly maxConnections: number;
  /** Requests of one connection that are read while another is under way. */
  readonly maxReadAhead: number;
  /** How long a response may make no write progress. */
  readonly stallMillis: number;
  /** The interval of progress checks. */
  readonly checkEveryMillis: number;
}

const defaultLimits: ConnectionsLimits = {
  maxConnections: 10_000,
  maxReadAhead: 16,
  stallMillis: 120_000,
  checkEveryMillis: 250,
};

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
 * What they have unread is in the memory of their requests. When more is held than there is, because a result is larger
 * than it was estimated, the connection that holds most is reset.
 */
export class ClientConnections {
  readonly #limits: ConnectionsLimits;
  readonly #onRefusal: OnRefusal;
  readonly #connections = new Map<Socket, ClientConnection>();
  readonly ticks: TickTime;
  readonly #memory: Memory;
  #underWay = 0;
  #isDraining = false;
  #isClosing = false;

  constructor(
    server: Server,
    { ticks }: Pick<Callers, 'ticks'>,
    memory: Memory,
    callerOf: (request: IncomingMessage) => Pick<Caller, 'id'>,
    onRefusal: OnRefusal,
    limits: Partial<ConnectionsLimits> = {},
  ) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#memory = memory;
    this.ticks = ticks;
    this.#onRefusal = onRefusal;
    server.maxConnections = this.#limits.maxConnections;
    server.on('drop', () => onRefusal('connections'));
    server.on('connection', (socket) => {
      this.ticks.accept();
      const connection = new ClientConnection(socket, {
        maxReadAhead: this.#limits.maxReadAhead,
        ticks: this.ticks,
        callerOf,
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
      const checking = every(this.#limits.checkEveryMillis, () => this.#check());
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

  /** The memory of a request, until its response has been sent, or its connection is closed. */
  openMemory(response: ServerResponse, caller: Caller): RequestMemory {
    const memory = this.#memory.open(caller);
    const connection = this.#connections.get(response.req.socket);
    if (connection?.underWay === response) connection.memory = memory;
    // It has gone meanwhile, or is none of this server.
    else if (response.req.socket.destroyed) memory.release();
    else response.on('close', () => memory.release());
    return memory;
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

  #check(): void {
    const now = performance.now();
    let largest: ClientConnection | undefined;
    for (const connection of this.#connections.values()) {
      connection.measureUnread();
      if (connection.stalledMillis(now) >= this.#limits.stallMillis) this.#cutOff(connection);
      if ((connection.memory?.bytes ?? 0) > (largest?.memory?.bytes ?? 0)) largest = connection;
    }
    if (largest !== undefined && this.#memory.isOverdrawn) this.#cutOff(largest);
  }

  #cutOff(connection: ClientConnection): void {
    this.#onRefusal('unread_responses');
    connection.reset();
  }
}

/** Discards what arrives of the body after its response, before Node does, which would parse it uncounted. */
function discardCounted(request: IncomingMessage, response: ServerResponse): void {
  response.prependListener('finish', () => {
    if (!request.complete) request.resume();
  });
}

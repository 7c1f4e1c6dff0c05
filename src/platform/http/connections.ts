import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

import { type Caller, RequestMemory, type Share } from '../callers/index.ts';
import { every } from '../background.ts';
import type { BoundsOptions } from './limits.ts';
import { ClientConnection } from './connection.ts';
import { ProbeRate } from './probe-rate.ts';

/**
 * How long a connection without a request stays open after listening has stopped: a proxy doesn't repeat a POST that it
 * has sent.
 */
const firstRequestMillis = 1_000;

/**
 * The open connections, the request under way on each, and their unread response bytes.
 *
 * Node's own `closeIdleConnections` counts a response as complete when its last byte is queued, and cuts off a client
 * that is still reading; here it is complete when that byte has been sent.
 *
 * Bytes that they haven't read are in the memory of their requests. When more is held than there is, because a result
 * is larger than it was estimated, the connection that holds most is reset.
 */
export class ClientConnections {
  readonly #options: BoundsOptions;
  readonly #connections = new Map<Socket, ClientConnection>();
  readonly #memory: Share;
  #underWay = 0;
  #isDraining = false;
  #isClosing = false;

  constructor(server: Server, memory: Share, options: BoundsOptions) {
    const { callers, onRefusal, limits } = options;
    const ofConnections = { ...options, probeRate: new ProbeRate(limits.maxProbesOfAddress) };
    this.#options = options;
    this.#memory = memory;
    server.maxConnections = limits.maxConnections;
    server.on('drop', () => onRefusal('connections'));
    server.on('connection', (socket) => {
      callers.ticks.accept();
      const connection = new ClientConnection(socket, ofConnections);
      this.#connections.set(socket, connection);
      socket.once('close', () => {
        this.#connections.delete(socket);
        connection.uncountReceived();
      });
    });
    // `close` calls it.
    server.closeIdleConnections = () => this.#closeIdle();
    server.once('listening', () => {
      const checking = every(limits.checkEveryMillis, () => this.#check());
      server.once('close', () => clearInterval(checking));
    });
  }

  /** Requests that have started and whose responses haven't been sent. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Counts in the clients' accounts the requests that have been received completely and have no response yet. */
  countReceived(share: Share): void {
    for (const connection of this.#connections.values()) connection.countReceived(share);
  }

  /** Calls the listener when the request before it on the connection has ended, and it may start. */
  accept(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const connection = this.of(request.socket);
    // The connection has been closed meanwhile.
    if (connection === undefined) return;
    const begin = (): void => {
      this.#underWay += 1;
      if (this.#isDraining) response.shouldKeepAlive = false;
      // The event comes once. (`once` would remove the listener, which costs a hundred times as much as calling it.)
      response.on('close', () => this.#end(connection, request));
      listener(request, response);
    };
    if (request.headers['transfer-encoding'] !== undefined) {
      connection.countChunks(request);
      // Discards what arrives of the body after its response, before Node does, which would parse it uncounted.
      response.prependListener('finish', () => {
        if (!request.complete) request.resume();
      });
    }
    connection.accept(response, begin);
  }

  /** The open connection of the socket. */
  of(socket: Socket): ClientConnection | undefined {
    return this.#connections.get(socket);
  }

  /** The response on the connection goes on until somebody ends it: from now on it isn't among those under way. */
  beginStream(socket: Socket): void {
    const connection = this.of(socket);
    if (connection === undefined || connection.isStreaming) return;
    connection.isStreaming = true;
    this.#underWay -= 1;
  }

  /** The memory of a request, until its response has been sent, or its connection is closed. */
  openMemory(response: ServerResponse, caller: Caller): RequestMemory {
    const memory = new RequestMemory(this.#memory, caller);
    const connection = this.of(response.req.socket);
    if (connection?.underWay === response) connection.memory = memory;
    // The connection has gone meanwhile, or is none of this server.
    else if (response.req.socket.destroyed) memory.release();
    else response.on('close', () => memory.release());
    return memory;
  }

  /** From now on every response has `Connection: close`. */
  startDraining(): void {
    this.#isDraining = true;
    for (const { underWay } of this.#connections.values())
      if (underWay !== undefined && !underWay.headersSent) underWay.shouldKeepAlive = false;
  }

  /** Resolves when none is open. */
  async allClosed(): Promise<void> {
    for (const socket of this.#connections.keys()) {
      await new Promise((resolve) => {
        socket.once('close', resolve);
      });
    }
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
    const close = (withNew: boolean): void => {
      for (const connection of this.#connections.values())
        if (connection.isIdle && (withNew || !connection.isNew)) connection.destroySoon();
    };
    setImmediate(close, false);
    setTimeout(close, firstRequestMillis, true).unref();
  }

  #check(): void {
    const now = performance.now();
    let largest: ClientConnection | undefined;
    for (const connection of this.#connections.values()) {
      connection.measureUnread();
      if (connection.stalledMillis(now) >= this.#options.limits.stallMillis) this.#cutOff(connection);
      if ((connection.memory?.bytes ?? 0) > (largest?.memory?.bytes ?? 0)) largest = connection;
    }
    if (largest !== undefined && this.#memory.isOverdrawn) this.#cutOff(largest);
  }

  #cutOff(connection: ClientConnection): void {
    this.#options.onRefusal('unread_responses');
    connection.reset();
  }
}

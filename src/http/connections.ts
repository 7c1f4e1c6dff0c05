import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The open connections and the responses under way on each.
 *
 * Node's own `closeIdleConnections` counts a response as over when its last byte is queued, and cuts off a client that is still
 * reading; here it is over when that byte has left.
 */
export class Connections {
  readonly #responses = new Map<Socket, Set<ServerResponse>>();
  #isDraining = false;
  #isClosing = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#responses.set(socket, new Set());
      socket.once('close', () => this.#responses.delete(socket));
    });
    // `close` calls it.
    server.closeIdleConnections = () => {
      this.#closeIdle();
    };
  }

  /** Counts a response from here until it has left or can't any more. */
  begin(socket: Socket, response: ServerResponse): void {
    const responses = this.#responses.get(socket);
    responses?.add(response);
    if (this.#isDraining) response.shouldKeepAlive = false;
    response.once('close', () => {
      responses?.delete(response);
      if (this.#isClosing && responses?.size === 0) socket.destroySoon();
    });
  }

  responsesOn(socket: Socket): readonly ServerResponse[] {
    return [...(this.#responses.get(socket) ?? [])];
  }

  /** From now on every response tells its client to connect anew for the next request. */
  startDraining(): void {
    this.#isDraining = true;
    for (const responses of this.#responses.values()) {
      for (const response of responses) {
        if (!response.headersSent) response.shouldKeepAlive = false;
      }
    }
  }

  destroyAll(): void {
    for (const socket of this.#responses.keys()) socket.destroy();
  }

  #closeIdle(): void {
    this.#isClosing = true;
    for (const [socket, responses] of this.#responses) {
      if (responses.size === 0) socket.destroySoon();
    }
  }
}

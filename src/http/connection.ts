import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { StartTurns } from './start-turns.ts';

interface QueuedRequest {
  readonly response: ServerResponse;
  readonly start: () => void;
}

export interface ConnectionLimits {
  /** Requests under way on one connection. */
  readonly maxRequests: number;
  /** While more response bytes are unread, no further request on the connection starts. */
  readonly maxUnreadBytes: number;
}

/** The write queue that libuv reports of a socket; Node uses it for socket timeouts. */
interface WriteHandle {
  readonly bytesWritten: number;
  /** The bytes that the operating system hasn't accepted yet: it also shrinks during one large write. */
  readonly writeQueueSize: number;
}

/**
 * One connection: its requests under way, queued requests, and unread response bytes.
 *
 * Node parses all of what one read of a socket brings (64 KiB) and hands over every request in it at once. Here a request starts only
 * when the connection has a free slot and a turn; until then the socket is paused, so that at most one read waits parsed.
 */
export class Connection {
  /** The key of the requests under way. */
  keyId: string | undefined;
  /** The last request, if its response was sent before its body had arrived: further bytes can't be told from the rest of that body. */
  unfinishedRequest: IncomingMessage | undefined;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #turns: StartTurns;
  readonly #onFull: () => void;
  /** Whether `onFull` was called since requests began to wait. */
  #isFullKnown = false;
  /** An array: a set that changes with each request leaves tables behind, each of which keeps the next one alive until a full collection (V8 13.6). */
  readonly #started: ServerResponse[] = [];
  readonly #queue: QueuedRequest[] = [];
  #acceptedBytes = -1;
  #progressAt = 0;

  /** `onFull` is called once each time that requests begin to wait and one of them finds no slot. */
  constructor(socket: Socket, limits: ConnectionLimits, turns: StartTurns, onFull: () => void) {
    this.#socket = socket;
    this.#limits = limits;
    this.#turns = turns;
    this.#onFull = onFull;
    // Node caches the address on first use; it isn't available after a reset.
    void socket.remoteAddress;
    // Node resumes the socket by itself, to read bodies and when responses have left.
    socket.on('resume', () => {
      if (this.#queue.length > 0) socket.pause();
    });
  }

  /** The responses under way, and those of requests that wait. */
  get responses(): readonly ServerResponse[] {
    return [...this.#started, ...this.#queue.map(({ response }) => response)];
  }

  get started(): readonly ServerResponse[] {
    return this.#started;
  }

  get isIdle(): boolean {
    return this.#started.length === 0 && this.#queue.length === 0;
  }

  /** The bytes written but not accepted by the operating system. */
  get unreadBytes(): number {
    if (this.#started.length === 0) return 0;
    let queuedBytes = 0;
    for (const response of this.#started) if (response.socket === null) queuedBytes += response.writableLength;
    return this.#socket.writableLength + queuedBytes;
  }

  /** Calls the listener now, or when it has a slot and a turn. */
  accept(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
    const start = (): void => {
      if (this.#started.length === 0) this.keyId = undefined;
      this.#started.push(response);
      listener(request, response);
    };
    if (this.#queue.length === 0 && this.#hasFreeSlot() && this.#turns.isFree) return start();
    this.#socket.pause();
    // Another request's end starts it, whose context isn't its own.
    if (this.#queue.push({ response, start: AsyncResource.bind(start) }) === 1) this.startQueued();
  }

  /** The response has been sent, or its connection is closed. */
  end(request: IncomingMessage, response: ServerResponse): void {
    const index = this.#started.indexOf(response);
    if (index !== -1) this.#started.splice(index, 1);
    this.unfinishedRequest = request.complete ? undefined : request;
    this.startQueued();
  }

  /** Starts queued requests in later turns, while there are slots. */
  startQueued(): void {
    if (this.#queue.length > 0 && this.#canStart()) this.#turns.wait(this);
  }

  /** Starts one queued request, if there is a slot, and waits again with the others. */
  startNext(): void {
    if (!this.#canStart()) return;
    this.#queue.shift()?.start();
    if (this.#queue.length > 0) return this.startQueued();
    this.#isFullKnown = false;
    this.#socket.resume();
  }

  /**
   * How long the operating system has reported no write progress; 0 when nothing is queued.
   *
   * Call it periodically: it compares with the previous call.
   */
  stalledMillis(now: number): number {
    const handle = (this.#socket as { readonly _handle?: WriteHandle | null })._handle;
    if (!handle || handle.writeQueueSize === 0) {
      this.#acceptedBytes = -1;
      return 0;
    }
    const acceptedBytes = handle.bytesWritten - handle.writeQueueSize;
    if (acceptedBytes !== this.#acceptedBytes) {
      this.#acceptedBytes = acceptedBytes;
      this.#progressAt = now;
    }
    return now - this.#progressAt;
  }

  destroy(): void {
    this.#queue.length = 0;
    this.#socket.destroy();
  }

  /** Closes the connection when all written bytes have been sent. */
  destroySoon(): void {
    this.#socket.destroySoon();
  }

  /** Whether a queued request has a slot. */
  #canStart(): boolean {
    if (this.#socket.destroyed) return false;
    if (this.#hasFreeSlot()) return true;
    if (!this.#isFullKnown) this.#onFull();
    this.#isFullKnown = true;
    return false;
  }

  #hasFreeSlot(): boolean {
    return this.#started.length < this.#limits.maxRequests && this.unreadBytes <= this.#limits.maxUnreadBytes;
  }
}

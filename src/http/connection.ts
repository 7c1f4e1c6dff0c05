import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface QueuedRequest {
  readonly response: ServerResponse;
  readonly begin: () => void;
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
 * Node parses all of what one read of a socket brings (64 KiB) and hands over every request in it at once. Here a request begins only
 * when the connection has a free slot; until then the socket is paused, so that at most one read waits parsed.
 */
export class Connection {
  /** The key of the requests under way. */
  keyId: string | undefined;
  /** The last request had its response before its body had arrived: what follows on the connection can't be separated from that body. */
  answeredEarly: IncomingMessage | undefined;
  readonly #socket: Socket;
  readonly #limits: ConnectionLimits;
  readonly #begun = new Set<ServerResponse>();
  readonly #queue: QueuedRequest[] = [];
  #taken = -1;
  #progressAt = 0;

  constructor(socket: Socket, limits: ConnectionLimits) {
    this.#socket = socket;
    this.#limits = limits;
    // Node caches the address on first use; it isn't available after a reset.
    void socket.remoteAddress;
    // Node resumes the socket by itself, to read bodies and when responses have left.
    socket.on('resume', () => {
      if (this.#queue.length > 0) socket.pause();
    });
  }

  /** The responses under way, and those of requests that wait. */
  get responses(): readonly ServerResponse[] {
    return [...this.#begun, ...this.#queue.map(({ response }) => response)];
  }

  get begun(): ReadonlySet<ServerResponse> {
    return this.#begun;
  }

  get isIdle(): boolean {
    return this.#begun.size === 0 && this.#queue.length === 0;
  }

  /** The bytes written but not accepted by the operating system. */
  get unreadBytes(): number {
    if (this.#begun.size === 0) return 0;
    let waitingForTheirTurn = 0;
    for (const response of this.#begun) if (response.socket === null) waitingForTheirTurn += response.writableLength;
    return this.#socket.writableLength + waitingForTheirTurn;
  }

  /** Calls the listener now, or when a slot is free; returns whether the connection is paused. */
  accept(request: IncomingMessage, response: ServerResponse, listener: RequestListener): boolean {
    const begin = (): void => {
      if (this.#begun.size === 0) this.keyId = undefined;
      this.#begun.add(response);
      listener(request, response);
    };
    if (this.#queue.length === 0 && this.#hasRoom()) {
      begin();
      return false;
    }
    this.#socket.pause();
    return this.#queue.push({ response, begin }) === 1;
  }

  /** The response has been sent, or its connection is closed. */
  end(request: IncomingMessage, response: ServerResponse): void {
    this.#begun.delete(response);
    this.answeredEarly = request.complete ? undefined : request;
    this.beginQueued();
  }

  /** Starts queued requests while there are slots. */
  beginQueued(): void {
    if (this.#queue.length === 0 || this.#socket.destroyed) return;
    while (this.#queue.length > 0 && this.#hasRoom()) this.#queue.shift()?.begin();
    if (this.#queue.length === 0) this.#socket.resume();
  }

  /**
   * How long the operating system has reported no write progress; 0 when nothing is queued.
   *
   * Call it periodically: it compares with the previous call.
   */
  stalledMillis(now: number): number {
    const handle = (this.#socket as { readonly _handle?: WriteHandle | null })._handle;
    if (!handle || handle.writeQueueSize === 0) {
      this.#taken = -1;
      return 0;
    }
    const taken = handle.bytesWritten - handle.writeQueueSize;
    if (taken !== this.#taken) {
      this.#taken = taken;
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

  #hasRoom(): boolean {
    return this.#begun.size < this.#limits.maxRequests && this.unreadBytes <= this.#limits.maxUnreadBytes;
  }
}

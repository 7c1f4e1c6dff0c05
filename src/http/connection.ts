import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface QueuedRequest {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

export interface ConnectionLimits {
  /** Requests under way on one connection. */
  readonly maxRequests: number;
  /** While more of its responses waits to be taken, no further request on the connection begins. */
  readonly maxUnreadBytes: number;
}

/** What libuv reports of the data that a socket has been given; Node has it for the timeout of sockets. */
interface WriteHandle {
  readonly bytesWritten: number;
  /** What the operating system hasn't taken yet: it shrinks within one large write, too. */
  readonly writeQueueSize: number;
}

/**
 * One connection: its requests under way, those that wait to be begun, and what its client hasn't taken.
 *
 * Node parses all of what one read of a socket brings (64 KiB) and hands over every request in it at once. Here a request begins only
 * when the connection has room for it; until then the socket is paused, so that at most one read waits parsed.
 */
export class Connection {
  /** The key of the requests under way. */
  keyId: string | undefined;
  /** The last request was answered before its body had arrived: what follows on the connection can't be separated from that body. */
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
    // Node remembers the address from here on; it can't be asked for any more once the connection is reset.
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

  /** What has been written and not been taken by the operating system. */
  get unreadBytes(): number {
    if (this.#begun.size === 0) return 0;
    let waitingForTheirTurn = 0;
    for (const response of this.#begun) if (response.socket === null) waitingForTheirTurn += response.writableLength;
    return this.#socket.writableLength + waitingForTheirTurn;
  }

  /** Calls the listener now, or when the connection has room; says whether the connection is paused from here on. */
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

  /** The response has left, or can't any more. */
  end(request: IncomingMessage, response: ServerResponse): void {
    this.#begun.delete(response);
    this.answeredEarly = request.complete ? undefined : request;
    this.beginQueued();
  }

  /** Begins what has room by now. */
  beginQueued(): void {
    if (this.#queue.length === 0 || this.#socket.destroyed) return;
    while (this.#queue.length > 0 && this.#hasRoom()) this.#queue.shift()?.begin();
    if (this.#queue.length === 0) this.#socket.resume();
  }

  /**
   * For how long the operating system has reported no progress with what is written; 0 when nothing waits.
   *
   * To be asked every now and then: it compares with the last time.
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

  /** Closes the connection when what is written has left. */
  destroySoon(): void {
    this.#socket.destroySoon();
  }

  #hasRoom(): boolean {
    return this.#begun.size < this.#limits.maxRequests && this.unreadBytes <= this.#limits.maxUnreadBytes;
  }
}

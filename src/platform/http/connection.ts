import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

import { context } from '@opentelemetry/api';

import { attempt } from '../background.ts';
import type { Lease, RequestMemory, Share } from '../callers/index.ts';
import type { BoundsOptions } from './limits.ts';
import type { ProbeRate } from './probe-rate.ts';

/** The write queue that libuv reports of a socket; Node uses it for socket timeouts. */
interface WriteHandle {
  readonly bytesWritten: number;
  /** The bytes that the operating system hasn't accepted yet: it also shrinks during one large write. */
  readonly writeQueueSize: number;
}

const onBody = 3;

/**
 * Of Node's parser (22.17 and 24.21), which has no public interface. It goes on through all that has been read, even
 * when the socket is destroyed, and makes a request and a response of each of the rest.
 */
interface NodeParser {
  onIncoming: () => number;
  /** The request that the chunks of a body are for. */
  incoming: IncomingMessage | null;
  /** `HTTPParser.kOnBody`: called with a copy of each chunk. */
  [onBody]?: (() => void) | undefined;
}

/** Node itself returns this for an upgrade: nothing more is parsed. */
const endParsing = 2;

/** How many chunks a body may have, beside one for each `minChunkBytes`: each takes some 2 µs, however small it is. */
const maxSmallChunks = 1_024;
const minChunkBytes = 256;

/** A request that has been read and not begun. */
interface QueuedRequest {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

export interface ConnectionOptions extends BoundsOptions {
  readonly probeRate: ProbeRate;
}

/**
 * One connection of a client: the request under way, those read ahead, and the bytes of the response that wait to be
 * sent.
 *
 * One request is under way at a time: the next one begins when the operating system has taken the whole response before
 * it. Node parses all of what one read brings (64 KiB, some 1,900 small requests) and hands over every request in it at
 * once; a client that sends more than `maxReadAhead` of them ahead is disconnected.
 */
export class ClientConnection {
  /** The memory of the request under way, when its client is known. */
  memory: RequestMemory | undefined;
  /** The response under way is a stream, which may last as long as its client likes. */
  isStreaming = false;
  /** The unwritten rest of the response under way, where it is written as fast as the client takes it. */
  unwritten: { readonly bytesLeft: number } | undefined;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  /** The last request, if its response was sent before its body had arrived. */
  #unfinished: IncomingMessage | undefined;
  #underWay: ServerResponse | undefined;
  readonly #queue: QueuedRequest[] = [];
  #isNew = true;
  #isRefused = false;
  /** The request that has been received, as last counted. */
  #received: Lease | undefined;
  #acceptedBytes = -1;
  #progressAt = 0;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    // Node caches the address on first use; it isn't available after a reset.
    void socket.remoteAddress;
  }

  get underWay(): ServerResponse | undefined {
    return this.#underWay;
  }

  /** The response under way, or the one that is next. */
  get current(): ServerResponse | undefined {
    return this.#underWay ?? this.#queue[0]?.response;
  }

  get isIdle(): boolean {
    return this.current === undefined;
  }

  /**
   * Whether the next bytes may be the rest of a body whose request has had its response: they can't be told from it.
   */
  get isBodyUnfinished(): boolean {
    return this.#unfinished?.complete === false;
  }

  /** Whether no request has come yet: the first one may be on its way. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /**
   * Counts in the client's account a request that has been received completely and has no response yet, begun or not.
   */
  countReceived(share: Share): void {
    const { current } = this;
    const isReceived = current !== undefined && !current.headersSent && current.req.complete;
    if (this.#received !== undefined) this.#received.resize(Number(isReceived));
    else if (isReceived) this.#received = share.hold(this.#options.callerOf(current.req), 1);
  }

  /**
   * Once the response is being sent, it holds what the operating system hasn't accepted of it; a stream says itself.
   */
  measureUnread(): void {
    if (this.#underWay?.headersSent !== true) return;
    this.memory?.hold(this.isStreaming ? 0 : this.#socket.writableLength + (this.unwritten?.bytesLeft ?? 0));
  }

  /**
   * Begins the request at once if no other is under way on the connection and the tick has time left; otherwise queues
   * it. Drops it if the connection is closed.
   */
  accept(response: ServerResponse, begin: () => void): void {
    if (this.#socket.destroyed) return;
    this.#isNew = false;
    if (this.isIdle && this.#options.callers.ticks.isFree) return this.#begin({ response, begin });
    // One of those that wait to start is the next under way.
    const maxQueued = this.#options.limits.maxReadAhead + (this.#underWay === undefined ? 1 : 0);
    if (this.#queue.length >= maxQueued) return this.#disconnect();
    // Another request's end begins it, in whose trace it isn't.
    if (this.#queue.push({ response, begin: context.bind(context.active(), begin) }) === 1) this.#waitToStart();
  }

  /**
   * Refuses what the client has sent and is no request, in this tick or a later one. It is the last thing that begins on
   * the connection, however much of it can't be parsed.
   */
  refuse(begin: () => void): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    const { callers, addressOf } = this.#options;
    callers.ticks.enter(addressOf(this.#socket), () => {
      if (this.#socket.destroyed) return;
      attempt(begin, () => this.reset());
    });
  }

  /**
   * Counts the chunks of a body as they are parsed, whether anybody reads them or not. Disconnects when there are too
   * many small ones.
   */
  countChunks(request: IncomingMessage): void {
    let chunks = 0;
    let bytes = 0;
    const push = (chunk: Buffer | null): boolean => {
      chunks += 1;
      bytes += chunk?.length ?? 0;
      if (chunks <= maxSmallChunks + bytes / minChunkBytes) return Readable.prototype.push.call(request, chunk);
      if (!this.#socket.destroyed) this.#disconnect();
      return false;
    };
    request.push = push;
  }

  /** The response has been sent, or its connection is closed. */
  end(request: IncomingMessage): void {
    this.#underWay = undefined;
    this.unwritten = undefined;
    this.memory?.release();
    this.memory = undefined;
    this.uncountReceived();
    this.#unfinished = request.complete ? undefined : request;
    this.#waitToStart();
  }

  /** Takes back what `countReceived` has counted. */
  uncountReceived(): void {
    this.#received?.release();
    this.#received = undefined;
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

  /** Resets the connection: after a close, the kernel would go on keeping what the client hasn't read. */
  reset(): void {
    this.#queue.length = 0;
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#queue.length = 0;
    this.#socket.destroy();
  }

  /** Closes the connection when all written bytes have been sent. */
  destroySoon(): void {
    this.#socket.destroySoon();
  }

  #begin({ response, begin }: QueuedRequest): void {
    this.#underWay = response;
    // The function runs in a handler of the socket's, or in a later tick: what it throws ends this connection alone.
    attempt(begin, () => this.reset());
  }

  #beginNext(): void {
    if (this.#underWay !== undefined || this.#socket.destroyed) return;
    const next = this.#queue.shift();
    if (next !== undefined) this.#begin(next);
  }

  #waitToStart(): void {
    const [next] = this.#queue;
    if (next === undefined || this.#underWay !== undefined) return;
    const { callers, callerOf, addressOf, isProbe, probeRate } = this.#options;
    const { req: request } = next.response;
    const begin = (): void => this.#beginNext();
    const address = isProbe(request) ? addressOf(this.#socket) : undefined;
    if (address !== undefined && probeRate.take(address.id, performance.now())) callers.ticks.waitFirst(address, begin);
    else callers.ticks.wait(callerOf(request), begin);
  }

  #disconnect(): void {
    this.#options.onRefusal('connection_requests');
    this.reset();
    const { parser } = this.#socket as { readonly parser?: NodeParser | null };
    if (!parser) return;
    parser.onIncoming = () => endParsing;
    parser.incoming = null;
    // For the rest of this read: the parser is used again for other connections.
    const { [onBody]: copyChunk } = parser;
    parser[onBody] = undefined;
    setImmediate(() => {
      parser[onBody] = copyChunk;
    });
  }
}

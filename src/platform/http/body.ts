import type { IncomingMessage } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { byteMillis, type Caller, type Lease, type RequestMemory, Share, type ShareLimit } from '../callers/index.ts';
import { inBackground } from '../background.ts';
import { type BoundsOptions, maxBodyBytes } from './limits.ts';
import { Refusal } from './refusal.ts';

/** Called once with the body, or with why there is none. */
type Done = (error: Error | null, body: Buffer) => void;

const none = Buffer.alloc(0);
const minBufferBytes = 4096;
const smallBytes = 4096;
const retryAfterSeconds = 1;

/**
 * Reads the bodies of requests that have been admitted.
 *
 * Model: most bodies are received together with their headers, and are read at once, or when there is memory for them.
 * Any other is read into one buffer that grows, in the memory of its request; after a second it is also one of the slow
 * bodies of its client.
 * Failures: a body that is too large, cut off or broken, or beyond a limit, gives an error to Fastify, which sends the
 * only response of the request.
 */
export class Bodies {
  readonly #options: BoundsOptions;
  readonly #slow: Share;
  /** Functions that end the reading of a body that isn't complete yet. */
  readonly #incomplete = new WeakMap<IncomingMessage, (error: Error) => void>();
  readonly #broken = new WeakMap<IncomingMessage, Error>();

  constructor(options: BoundsOptions) {
    this.#options = options;
    this.#slow = new Share(options.callers.accounts, {
      ofClient: options.limits.maxIncompleteOfClient,
      ofAll: Infinity,
      refuse: (_limit, held) => {
        const message = `${held} requests of this key are still sending their bodies: let one of them finish first.`;
        return this.#refuse(new Refusal('RATE_LIMITED', message, { retryAfterSeconds }));
      },
    });
  }

  /** Reads a body of at most `maxBodyBytes`; a larger one is PAYLOAD_TOO_LARGE. */
  read({ headers, caller, memory }: FastifyRequest, payload: IncomingMessage, done: Done): void {
    const broken = this.#broken.get(payload);
    if (broken !== undefined) return done(broken, none);
    // A stream that has ended before anyone could listen will emit nothing.
    if (payload.readableEnded) return done(null, none);
    const length = Number(headers['content-length']);
    if (length > maxBodyBytes) return done(tooLarge(), none);
    if (payload.readableLength === length) {
      const body = (payload.read() as Buffer | null) ?? none;
      // Unread, the stream would never end.
      payload.resume();
      caller.use(length * byteMillis);
      // To parse a larger one takes time, and many requests may be admitted in one tick.
      const finish = (): void =>
        length <= smallBytes ? done(null, body) : this.#options.callers.ticks.enter(caller, () => done(null, body));
      const waiting = memory.reserve(length);
      if (waiting === undefined) return finish();
      return inBackground(waiting.then(finish, (error: unknown) => done(error as Error, none)));
    }
    return this.#readChunks(caller, memory, payload, length || maxBodyBytes, done);
  }

  /** Whether the parser has rejected the body, or it took too long. */
  isBroken(request: IncomingMessage): boolean {
    return this.#broken.has(request);
  }

  /** Fails a body that the parser has rejected, or that takes too long. */
  fail(request: IncomingMessage, error: Error): void {
    this.#broken.set(request, error);
    this.#incomplete.get(request)?.(error);
  }

  /** In one buffer that grows: as an object each, chunks of one byte would take hundreds of times their bytes. */
  #readChunks(caller: Caller, memory: RequestMemory, payload: IncomingMessage, maxBytes: number, done: Done): void {
    let body = none;
    let length = 0;
    let slowLease: Lease | undefined;
    const end = (error: Error | null): void => {
      // The request may fail while it waits to start.
      if (!this.#incomplete.delete(payload)) return;
      payload.off('data', add).off('end', finish).off('error', end);
      clearTimeout(slow);
      slowLease?.release();
      caller.use(length * byteMillis);
      memory.hold(error === null ? length : 0);
      done(error, body.subarray(0, length));
    };
    // The work begins now: bodies of many connections may end in one tick.
    const finish = (): void => this.#options.callers.ticks.enter(caller, () => end(null));
    const add = (chunk: Buffer): void => {
      const needed = length + chunk.length;
      if (needed > maxBodyBytes) return end(tooLarge());
      if (needed > body.length) {
        // Few steps: fresh memory takes longer than the copy into it.
        const size = Math.min(Math.max(4 * needed, minBufferBytes), maxBytes);
        const limit = memory.tryHold(size);
        if (limit !== undefined) return end(this.#refuse(tooManyBytes(limit)));
        body = Buffer.concat([body], size);
      }
      chunk.copy(body, length);
      length = needed;
      return undefined;
    };
    const count = (): void => {
      try {
        slowLease = this.#slow.takeNow(caller);
      } catch (refusal) {
        end(refusal as Refusal);
      }
    };
    const slow = setTimeout(count, this.#options.limits.incompleteAfterMillis);
    slow.unref();
    this.#incomplete.set(payload, end);
    payload.on('data', add).on('end', finish).on('error', end);
  }

  #refuse(error: Refusal): Refusal {
    this.#options.onRefusal('incomplete_bodies');
    return error;
  }
}

function tooLarge(): Refusal {
  return new Refusal('PAYLOAD_TOO_LARGE', 'The request body is larger than 1 MiB (1,048,576 bytes).');
}

function tooManyBytes(limit: ShareLimit): Refusal {
  const [code, whose] =
    limit === 'client' ? (['RATE_LIMITED', ' of this key'] as const) : (['UNAVAILABLE', ''] as const);
  const message = `The requests${whose} that are under way leave no memory for this body. Try again in a second.`;
  return new Refusal(code, message, { retryAfterSeconds });
}

import type { IncomingMessage } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { byteMillis, type Accounts } from '../../account/accounts.ts';
import { Share, type Lease } from '../../account/share.ts';
import type { TickTime } from '../../account/tick-time.ts';
import type { OnRefusal } from './bounds.ts';
import { HttpError } from '../error-table.ts';
import { maxBodyBytes } from './limits.ts';

/** The limits of bodies that haven't arrived completely. Tests lower them. */
export interface BodyLimits {
  /** Of one client, counted from `incompleteAfterMillis` on. */
  readonly maxIncompleteOfClient: number;
  readonly maxIncompleteBytes: number;
  readonly incompleteAfterMillis: number;
}

const defaultLimits: BodyLimits = {
  maxIncompleteOfClient: 8,
  maxIncompleteBytes: 64 * 1024 * 1024,
  incompleteAfterMillis: 1_000,
};

/** Called once with the body, or with why there is none. */
type Done = (error: Error | null, body: Buffer) => void;

const none = Buffer.alloc(0);
const minBufferBytes = 4096;
const retryAfterSeconds = 1;

/** A body that is arriving. */
interface Arriving {
  /** Ends the reading. */
  readonly fail: (error: Error) => void;
}

/**
 * Reads the bodies of requests that have been admitted.
 *
 * Model: most bodies have arrived together with their headers, and are read at once. Any other is read into one buffer
 * that grows, whose bytes are leased (`Share`); after a second it is also one of the slow bodies of its client.
 * Failures: a body that is too large, cut off or broken, or beyond a limit, gives an error to Fastify, which sends the
 * only response of the request.
 */
export class Bodies {
  readonly #accounts: Accounts;
  readonly #limits: BodyLimits;
  readonly #ticks: TickTime;
  readonly #slow: Share;
  readonly #bytes: Share;
  readonly #arriving = new WeakMap<IncomingMessage, Arriving>();
  readonly #broken = new WeakMap<IncomingMessage, Error>();

  constructor(accounts: Accounts, ticks: TickTime, onRefusal: OnRefusal, limits: Partial<BodyLimits> = {}) {
    this.#accounts = accounts;
    this.#ticks = ticks;
    this.#limits = { ...defaultLimits, ...limits };
    const { maxIncompleteOfClient, maxIncompleteBytes } = this.#limits;
    const refuse = (error: () => HttpError): HttpError => {
      onRefusal('incomplete_bodies');
      return error();
    };
    this.#slow = new Share(accounts, {
      ofClient: maxIncompleteOfClient,
      ofAll: Infinity,
      refuse: (_refusal, held) => refuse(() => tooMany(held)),
    });
    this.#bytes = new Share(accounts, {
      ofClient: Infinity,
      ofAll: maxIncompleteBytes,
      refuse: () => refuse(tooManyBytes),
    });
  }

  /** Reads a body of at most `maxBodyBytes`; a larger one is PAYLOAD_TOO_LARGE. */
  read({ headers, principal }: FastifyRequest, payload: IncomingMessage, done: Done): void {
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
      this.#accounts.use(principal.id, length * byteMillis);
      return done(null, body);
    }
    return this.#readChunks(principal.id, payload, done);
  }

  /** Whether the parser has rejected the body, or it took too long. */
  isBroken(request: IncomingMessage): boolean {
    return this.#broken.has(request);
  }

  /** Fails a body that the parser has rejected, or that takes too long. */
  fail(request: IncomingMessage, error: HttpError): void {
    this.#broken.set(request, error);
    this.#arriving.get(request)?.fail(error);
  }

  /** In one buffer that grows: as an object each, chunks of one byte would take hundreds of times their bytes. */
  #readChunks(clientId: string, payload: IncomingMessage, done: Done): void {
    let body = none;
    let length = 0;
    const leases: Lease[] = [];
    let bytes: Lease | undefined;
    const end = (error: Error | null): void => {
      // It may fail while it waits to start.
      if (!this.#arriving.delete(payload)) return;
      payload.off('data', add).off('end', finish).off('error', end);
      clearTimeout(slow);
      for (const lease of leases) lease.release();
      this.#accounts.use(clientId, length * byteMillis);
      done(error, body.subarray(0, length));
    };
    // The work begins now: bodies of many connections may end in one tick.
    const finish = (): void => this.#ticks.enter(clientId, () => end(null));
    const lease = (take: () => Lease): Lease | undefined => {
      try {
        const taken = take();
        leases.push(taken);
        return taken;
      } catch (refusal) {
        end(refusal as HttpError);
        return undefined;
      }
    };
    const add = (chunk: Buffer): void => {
      const needed = length + chunk.length;
      if (needed > maxBodyBytes) return end(tooLarge());
      if (needed > body.length) {
        const size = Math.min(Math.max(2 * needed, minBufferBytes), maxBodyBytes);
        // Taken anew, so that it is refused beyond the limit.
        bytes?.release();
        bytes = lease(() => this.#bytes.takeNow(clientId, size));
        if (bytes === undefined) return undefined;
        body = Buffer.concat([body], size);
      }
      chunk.copy(body, length);
      length = needed;
      return undefined;
    };
    const slow = setTimeout(() => lease(() => this.#slow.takeNow(clientId)), this.#limits.incompleteAfterMillis);
    slow.unref();
    this.#arriving.set(payload, { fail: end });
    payload.on('data', add).on('end', finish).on('error', end);
  }
}

function tooLarge(): HttpError {
  return new HttpError('PAYLOAD_TOO_LARGE', 'The request body is larger than 1 MiB (1,048,576 bytes).');
}

function tooMany(held: number): HttpError {
  const message = `${held} requests of this key are still sending their bodies: let one of them finish first.`;
  return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
}

function tooManyBytes(): HttpError {
  const message = 'Too many requests are still sending their bodies. Try again in a second.';
  return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
}

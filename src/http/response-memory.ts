import type { FastifyReply, FastifyRequest } from 'fastify';

import { currentRequest } from '../domain/access/current-request.ts';
import type { OnRefusal } from './bounds.ts';
import { HttpError } from './error-table.ts';

/** The limits of memory for large responses. Tests lower them. */
export interface ResponseMemoryLimits {
  readonly maxResponseBytesOfKey: number;
  readonly maxResponseBytesOfAll: number;
  readonly responseWaitMillis: number;
}

const mebibyte = 1024 * 1024;

const defaultLimits: ResponseMemoryLimits = {
  maxResponseBytesOfKey: 32 * mebibyte,
  maxResponseBytesOfAll: 256 * mebibyte,
  responseWaitMillis: 2_000,
};

const retryAfterSeconds = 5;

/** A response that is estimated to be smaller isn't counted: there are at most 1,000 under way. */
export const smallResponseBytes = 256 * 1024;

/** Memory for one response. */
export interface Reservation {
  /** Its size is known now. Without effect after `release`. */
  resize(bytes: number): void;
  /** The client has read the response, or has disconnected. Call it once. */
  release(): void;
}

interface Waiter {
  readonly bytes: number;
  readonly resolve: (reservation: Reservation) => void;
  /** Ends the timeout and the listener. */
  readonly stopWatching: () => void;
}

interface Share {
  readonly keyId: string;
  bytes: number;
  readonly waiting: Set<Waiter>;
}

/** Reserves memory for a response that may be large, until it has been sent, or its connection is closed. */
export async function reserveFor(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: number,
): Promise<Pick<Reservation, 'resize'>> {
  const { server, principal, raw } = request;
  const memory = await server.responseMemory.reserve(principal.id, bytes, currentRequest()?.signal);
  if (reply.raw.closed || raw.socket.destroyed) memory.release();
  else reply.raw.once('close', () => memory.release());
  return memory;
}

/**
 * Memory for large responses, reserved before they are executed and held until the client has read them.
 *
 * All requests of one read of a connection start together, before any of them has a response whose unread bytes could be counted.
 * So an estimate of what a response becomes is counted until its size is known. One response is always possible. Guarantees: responses that are
 * known or estimated to be large fit in the limits of their key and of all keys; no request waits longer than `responseWaitMillis`, or without its client; keys that wait take turns.
 */
export class ResponseMemory {
  readonly #limits: ResponseMemoryLimits;
  readonly #onRefusal: OnRefusal;
  readonly #shares = new Map<string, Share>();
  /** The shares with waiting requests, in the order of their turns. */
  readonly #waitingShares = new Set<Share>();
  #bytes = 0;

  constructor(onRefusal: OnRefusal, limits: Partial<ResponseMemoryLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#onRefusal = onRefusal;
  }

  /** Throws UNAVAILABLE when other responses have used the memory for too long, or the reason of the signal. */
  async reserve(keyId: string, bytes: number, signal?: AbortSignal): Promise<Reservation> {
    const share = this.#shares.get(keyId) ?? { keyId, bytes: 0, waiting: new Set<Waiter>() };
    this.#shares.set(keyId, share);
    if (share.waiting.size === 0 && this.#fits(share, bytes)) return this.#take(share, bytes);
    return new Promise((resolve, reject) => {
      const refuse = (reason: Error): void => {
        this.#remove(share, waiter);
        reject(reason);
      };
      const timeout = setTimeout(() => refuse(this.#refusal()), this.#limits.responseWaitMillis).unref();
      const abort = (): void => refuse(signal?.reason as Error);
      signal?.addEventListener('abort', abort);
      const waiter: Waiter = {
        bytes,
        resolve,
        stopWatching: () => {
          clearTimeout(timeout);
          signal?.removeEventListener('abort', abort);
        },
      };
      share.waiting.add(waiter);
      this.#waitingShares.add(share);
    });
  }

  #fits(share: Share, bytes: number): boolean {
    const { maxResponseBytesOfKey, maxResponseBytesOfAll } = this.#limits;
    return (
      (share.bytes === 0 || share.bytes + bytes <= maxResponseBytesOfKey) &&
      (this.#bytes === 0 || this.#bytes + bytes <= maxResponseBytesOfAll)
    );
  }

  #take(share: Share, bytes: number): Reservation {
    let held = 0;
    let isReleased = false;
    const hold = (wanted: number): void => {
      share.bytes += wanted - held;
      this.#bytes += wanted - held;
      held = wanted;
    };
    hold(bytes);
    return {
      resize: (actual) => {
        // The client may have disconnected during the execution.
        if (isReleased) return;
        hold(actual);
        this.#startWaiting();
      },
      release: () => {
        isReleased = true;
        hold(0);
        this.#deleteIfIdle(share);
        this.#startWaiting();
      },
    };
  }

  #startWaiting(): void {
    for (const share of this.#waitingShares) {
      for (const waiter of share.waiting) {
        if (!this.#fits(share, waiter.bytes)) break;
        waiter.resolve(this.#take(share, waiter.bytes));
        this.#remove(share, waiter);
        // To the end of the queue: the other keys are next.
        if (this.#waitingShares.delete(share)) this.#waitingShares.add(share);
        break;
      }
    }
  }

  #remove(share: Share, waiter: Waiter): void {
    waiter.stopWatching();
    share.waiting.delete(waiter);
    if (share.waiting.size > 0) return;
    this.#waitingShares.delete(share);
    this.#deleteIfIdle(share);
  }

  #deleteIfIdle(share: Share): void {
    const isIdle = share.bytes === 0 && share.waiting.size === 0;
    // A share whose reservation was resized to 0 may have been deleted, and replaced by a new one of the key.
    if (isIdle && this.#shares.get(share.keyId) === share) this.#shares.delete(share.keyId);
  }

  #refusal(): HttpError {
    this.#onRefusal('unread_responses');
    const message =
      'Too many large responses are under way or wait to be read. Read them, and try again in a few seconds.';
    return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
  }
}

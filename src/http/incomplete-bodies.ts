import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';

import type { FastifyRequest } from 'fastify';

import type { OnRefusal } from './bounds.ts';
import { HttpError } from './error-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Its body, until that has arrived. */
    incompleteBody: IncompleteBody | undefined;
  }
}

/** The limits of bodies that haven't arrived completely. Tests lower them. */
export interface IncompleteBodiesLimits {
  /** Of one key, counted from `incompleteAfterMillis` on. */
  readonly maxIncompleteOfKey: number;
  readonly maxIncompleteBytes: number;
  readonly incompleteAfterMillis: number;
}

const defaultLimits: IncompleteBodiesLimits = {
  maxIncompleteOfKey: 8,
  maxIncompleteBytes: 128 * 1024 * 1024,
  incompleteAfterMillis: 1_000,
};

const checkEveryMillis = 100;
const retryAfterSeconds = 1;

interface IncompleteBody {
  readonly request: FastifyRequest;
  readonly keyId: string;
  readonly startedAt: number;
  /** What had been read on the connection before. */
  readonly bytesBefore: number;
  /** It uses one of its key's slots. */
  isCounted: boolean;
  /** Its index in the list. */
  index: number;
}

/**
 * Request bodies that are still arriving.
 *
 * Most bodies come in the same read as their headers and are never seen here. Of the others none is held for longer than it takes to
 * arrive: a request that is held when V8 collects new objects costs as much as it does otherwise. A request is admitted first, so
 * that a refusal costs quota; it doesn't count towards a ban.
 */
export class IncompleteBodies {
  readonly #limits: IncompleteBodiesLimits;
  readonly #onRefusal: OnRefusal;
  readonly #bodies: IncompleteBody[] = [];
  #checking: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(onRefusal: OnRefusal, limits: Partial<IncompleteBodiesLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#onRefusal = onRefusal;
  }

  /** Watches the body of an admitted request until `end`. Throws UNAVAILABLE while other bodies use all the memory for it. */
  watch(request: FastifyRequest): void {
    const { raw, principal } = request;
    if (hasArrived(raw)) return;
    if (this.#bytes > this.#limits.maxIncompleteBytes) throw this.#tooManyBytes();
    request.incompleteBody = {
      request,
      keyId: principal.id,
      startedAt: performance.now(),
      bytesBefore: raw.socket.bytesRead,
      isCounted: false,
      index: this.#bodies.length,
    };
    this.#bodies.push(request.incompleteBody);
    this.#checking ??= setInterval(() => this.#check(), checkEveryMillis).unref();
  }

  /** The body has arrived, or won't. Without effect on a request that isn't watched. */
  end(request: FastifyRequest): void {
    const body = request.incompleteBody;
    if (body === undefined) return;
    request.incompleteBody = undefined;
    const last = this.#bodies.pop();
    if (last === undefined || last === body) return;
    this.#bodies[body.index] = last;
    last.index = body.index;
  }

  #check(): void {
    const now = performance.now();
    const ofKeys = new Map<string, number>();
    this.#bytes = 0;
    for (const body of this.#bodies.slice()) {
      const { raw } = body.request;
      // Only a body that `readBody` waits for has a listener.
      if (raw.complete || raw.destroyed || raw.listenerCount('error') === 0) this.end(body.request);
      else if (body.isCounted) ofKeys.set(body.keyId, (ofKeys.get(body.keyId) ?? 0) + 1);
    }
    for (const body of this.#bodies.slice()) {
      const ofKey = ofKeys.get(body.keyId) ?? 0;
      if (!body.isCounted && now - body.startedAt >= this.#limits.incompleteAfterMillis) {
        if (ofKey >= this.#limits.maxIncompleteOfKey) {
          this.#refuse(body, this.#tooMany());
          continue;
        }
        body.isCounted = true;
        ofKeys.set(body.keyId, ofKey + 1);
      }
      this.#bytes += body.request.raw.socket.bytesRead - body.bytesBefore;
      if (this.#bytes > this.#limits.maxIncompleteBytes && body.isCounted) this.#refuse(body, this.#tooManyBytes());
    }
    if (this.#bodies.length > 0) return;
    clearInterval(this.#checking);
    this.#checking = undefined;
  }

  /** Fails the body's stream, which ends `readBody`; further bytes are dropped. */
  #refuse(body: IncompleteBody, refusal: HttpError): void {
    this.end(body.request);
    const { raw, meter } = body.request;
    const end = (error: unknown): void => {
      if (raw.listenerCount('error') > 0) raw.emit('error', error);
    };
    if (meter === undefined) end(refusal);
    else meter.spend().then(() => end(refusal), end);
  }

  #tooMany(): HttpError {
    this.#onRefusal('incomplete_bodies');
    const message = `${this.#limits.maxIncompleteOfKey} requests of this key are still sending their bodies: let one of them finish first.`;
    return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
  }

  #tooManyBytes(): HttpError {
    this.#onRefusal('incomplete_bodies');
    const message = 'Too many requests are still sending their bodies. Try again in a second.';
    return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
  }
}

/** Node sets `complete` a little later than it delivers the last bytes. */
function hasArrived({ complete, readableLength, headers }: IncomingMessage): boolean {
  return complete || readableLength === Number(headers['content-length']);
}

import type { OnRefusal } from '../http/bounds.ts';
import { HttpError } from '../http/error-table.ts';

/** How many whole collections may be streamed at a time. */
export interface StreamLimits {
  readonly perKey: number;
  readonly perProcess: number;
}

export const defaultStreamLimits: StreamLimits = { perKey: 2, perProcess: 50 };

export interface StreamEvents {
  /** Adds 1 when a stream begins, -1 when it ends. */
  readonly onChange: (change: 1 | -1) => void;
  readonly onRefusal: OnRefusal;
}

const retryAfterSeconds = 5;

/** Limits the whole collections that are streamed at a time. A stream lasts as long as the client takes. */
export class StreamSlots {
  readonly #limits: StreamLimits;
  readonly #events: StreamEvents;
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(limits: StreamLimits, events: StreamEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Acquires a slot; returns its release, which may be called more than once. Throws RATE_LIMITED or UNAVAILABLE. */
  acquire(principalId: string): () => void {
    const used = this.#used.get(principalId) ?? 0;
    if (used >= this.#limits.perKey) {
      const message = `This key is reading ${used} whole collections already: finish one of them first, or use limit and cursor.`;
      this.#events.onRefusal('streams');
      throw new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
    }
    if (this.#total >= this.#limits.perProcess) {
      const message =
        'Too many whole collections are being read at the moment. Try again in a few seconds, or use limit and cursor.';
      this.#events.onRefusal('streams');
      throw new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
    }
    this.#used.set(principalId, used + 1);
    this.#total += 1;
    this.#events.onChange(1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(principalId);
      isHeld = false;
    };
  }

  #release(principalId: string): void {
    const left = (this.#used.get(principalId) ?? 0) - 1;
    if (left > 0) this.#used.set(principalId, left);
    else this.#used.delete(principalId);
    this.#total -= 1;
    this.#events.onChange(-1);
  }
}

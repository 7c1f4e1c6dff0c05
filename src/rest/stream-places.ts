import type { OnRefusal } from '../http/bounds.ts';
import { HttpError } from '../http/error-table.ts';

/** How many whole collections may be under way at a time. */
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

/** The places for those who read a whole collection, which may take as long as the client likes. */
export class StreamPlaces {
  readonly #limits: StreamLimits;
  readonly #events: StreamEvents;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(limits: StreamLimits, events: StreamEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Takes a place and answers how to give it back, which may be done more than once; throws RATE_LIMITED or UNAVAILABLE. */
  take(principalId: string): () => void {
    const taken = this.#taken.get(principalId) ?? 0;
    if (taken >= this.#limits.perKey) {
      const message = `This key is reading ${taken} whole collections already: finish one of them first, or use limit and cursor.`;
      this.#events.onRefusal('streams');
      throw new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
    }
    if (this.#total >= this.#limits.perProcess) {
      const message =
        'Too many whole collections are being read at the moment. Try again in a few seconds, or use limit and cursor.';
      this.#events.onRefusal('streams');
      throw new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
    }
    this.#taken.set(principalId, taken + 1);
    this.#total += 1;
    this.#events.onChange(1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack(principalId);
      isTaken = false;
    };
  }

  #giveBack(principalId: string): void {
    const left = (this.#taken.get(principalId) ?? 0) - 1;
    if (left > 0) this.#taken.set(principalId, left);
    else this.#taken.delete(principalId);
    this.#total -= 1;
    this.#events.onChange(-1);
  }
}

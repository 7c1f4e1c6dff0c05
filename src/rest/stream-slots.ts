import type { Accounts } from '../account/accounts.ts';
import { Share } from '../account/share.ts';
import type { OnRefusal } from '../http/bounds/bounds.ts';
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
  readonly #share: Share;
  readonly #events: StreamEvents;

  constructor(accounts: Accounts, { perKey, perProcess }: StreamLimits, events: StreamEvents) {
    this.#events = events;
    this.#share = new Share(accounts, {
      ofClient: perKey,
      ofAll: perProcess,
      refuse: (refusal, held) => {
        events.onRefusal('streams');
        return refusal === 'client' ? tooManyOfKey(held) : tooMany();
      },
    });
  }

  /** Acquires a slot; returns its release, which may be called more than once. Throws RATE_LIMITED or UNAVAILABLE. */
  acquire(principalId: string): () => void {
    const lease = this.#share.takeNow(principalId);
    this.#events.onChange(1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      lease.release();
      this.#events.onChange(-1);
    };
  }
}

function tooManyOfKey(held: number): HttpError {
  const message = `This key is reading ${held} whole collections already: finish one of them first, or use limit and cursor.`;
  return new HttpError('RATE_LIMITED', message, { retryAfterSeconds });
}

function tooMany(): HttpError {
  const message =
    'Too many whole collections are being read at the moment. Try again in a few seconds, or use limit and cursor.';
  return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
}

import {
  type Accounts,
  type Caller,
  ClientSlots,
  type SlotCounter,
  Share,
  type Slot,
} from '../platform/callers/index.ts';
import type { OnRefusal } from '../http/observe/bounds.ts';
import { HttpError } from '../http/error-table.ts';

/** How many whole collections may be streamed at a time. */
export interface CollectionLimits {
  readonly perKey: number;
  readonly perProcess: number;
}

export const defaultLimits: CollectionLimits = { perKey: 2, perProcess: 50 };

const retryAfterSeconds = 5;

/** The whole collections that are streamed at a time. A stream lasts as long as the client takes. */
export class CollectionSlots {
  readonly #slots: ClientSlots;
  readonly #perKey: number;

  /** With `everywhere` those of a key are counted in several processes together. */
  constructor(
    accounts: Accounts,
    onRefusal: OnRefusal,
    limits: Partial<CollectionLimits> = {},
    everywhere?: SlotCounter,
  ) {
    const { perKey, perProcess } = { ...defaultLimits, ...limits };
    const share = new Share(accounts, {
      ofClient: Infinity,
      ofAll: perProcess,
      refuse: (limit, held) => {
        onRefusal('streams');
        return limit === 'client' ? tooManyOfKey(held) : tooMany();
      },
    });
    this.#slots = new ClientSlots(share, 'collections', everywhere);
    this.#perKey = perKey;
  }

  get held(): number {
    return this.#slots.held;
  }

  /** Throws RATE_LIMITED or UNAVAILABLE. */
  take(caller: Pick<Caller, 'id'>): Promise<Slot> {
    return this.#slots.take(caller, this.#perKey);
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

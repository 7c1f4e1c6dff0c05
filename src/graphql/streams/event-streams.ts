import type { Writable } from 'node:stream';

import {
  type Caller,
  type Callers,
  ClientSlots,
  type SlotCounter,
  type RequestMemory,
  Share,
  type Slot,
} from '../../platform/callers/index.ts';
import { maxEventStreams } from '../../domain/access/plan.ts';
import type { Principal } from '../../domain/access/principal.ts';
import { isUnavailable } from '../../domain/errors.ts';
import type { EventFilter } from '../../domain/events/event-filter.ts';
import { type EventPosition, memoryOf, type StoreEvent } from '../../domain/events/event.ts';
import { Services } from '../../domain/services.ts';
import type { Stores } from '../../domain/stores.ts';
import { type FeedStream, FeedStreams, type Framing, type StreamTerms } from '../../platform/feed/index.ts';
import type { OnRefusal } from '../../http/observe/bounds.ts';
import { describeFailure } from '../../http/error-table.ts';
import { KeySubscriber, type KeyChecks } from './key-subscriber.ts';
import { SharedValues } from './shared-values.ts';
import { draining, endFor, lastedLong, tooMany } from './stream-ends.ts';
import type { StreamSelection } from './stream-selection.ts';
import { StreamTexts } from './stream-texts.ts';

export const defaultTerms: StreamTerms = {
  keepAliveMillis: 15_000,
  lifeMillis: 60 * 60_000,
  millisOfUnit: 5 * 60_000,
  eventsOfUnit: 1_000,
  bytesOfUnit: 1024 * 1024,
};

export interface EventStreamsOptions extends KeyChecks {
  readonly stores: { for(caller: Caller): Stores };
  readonly callers: Callers;
  readonly maxStreams: number;
  /** Counts those of a key in several processes together. */
  readonly everywhere?: SlotCounter | undefined;
  readonly onRefusal: OnRefusal;
  /** Called for an error that isn't a client's, nor a lost database. */
  readonly onFailure: (error: unknown) => void;
  readonly terms?: Partial<StreamTerms> | undefined;
}

export interface StreamOpening {
  readonly key: string;
  readonly caller: Caller;
  readonly principal: Principal;
  /** The memory of the request, which is the stream's from then on. */
  readonly memory: RequestMemory;
  readonly selection: StreamSelection;
  readonly filter: EventFilter | undefined;
  /** Without one it begins with the next event. */
  readonly after: EventPosition | undefined;
  readonly framing: Framing;
  /** Called when there are too many streams. What it throws is the refusal instead. */
  readonly onTooMany: () => Promise<void>;
  /** Called with the code of the last message, unless the client has ended the stream. Kept as long as the stream. */
  readonly onEnd: (code: string) => void;
}

/** An estimate of what a stream and its connection take, and each object of its filter. */
const bytesOfStream = 16 * 1024;
const bytesOfSubject = 8;

/** The event streams of the process: who may open them, what they cost and remember. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #streams: FeedStreams<StoreEvent>;
  readonly #texts: StreamTexts;
  readonly #subscribers = new SharedValues<KeySubscriber>();
  /** A key's part is that of the plan that it has when it opens one more. */
  readonly #slots: ClientSlots;
  #isDraining = false;

  constructor(options: EventStreamsOptions) {
    const { stores, callers, maxStreams, everywhere, onRefusal, onFailure, terms } = options;
    this.#options = options;
    this.#texts = new StreamTexts(onRefusal, onFailure);
    this.#streams = new FeedStreams({
      log: stores.for(callers.service('event feed')).events,
      bytesOf: memoryOf,
      isOutage: isUnavailable,
      onFailure,
      terms: { ...defaultTerms, ...terms },
      lasted: () => endFor(lastedLong()),
      draining: () => endFor(draining()),
    });
    const share = new Share(callers.accounts, {
      ofClient: Infinity,
      ofAll: maxStreams,
      refuse: (limit, held) => {
        onRefusal('event_streams');
        return tooMany(limit, held);
      },
    });
    this.#slots = new ClientSlots(share, 'event streams', everywhere);
  }

  get count(): number {
    return this.#streams.count;
  }

  /** Throws EVENTS_GONE, RATE_LIMITED or UNAVAILABLE, or what `onTooMany` throws. */
  async open(opening: StreamOpening, begin: () => Writable): Promise<FeedStream<StoreEvent>> {
    if (this.#isDraining) throw draining();
    const { stores } = this.#options;
    const { caller, principal, memory, selection, filter, onTooMany } = opening;
    const inStores = stores.for(caller);
    const { events } = new Services(inStores, principal);
    if (opening.after !== undefined) await events.readAfter(opening.after, 1);
    const after = opening.after ?? (await inStores.events.last());
    if (this.#isDraining) throw draining();
    const slot = await this.#takeSlot(caller, principal, onTooMany);
    try {
      const bytes = bytesOfStream + selection.bytes + bytesOfSubject * (filter?.subjectIn?.length ?? 0);
      await memory.reserve(bytes);
      memory.keep(bytes);
      if (this.#isDraining) throw draining();
      return this.#begin(opening, after, bytes, slot, begin());
    } catch (error) {
      slot.release();
      throw error;
    }
  }

  /** This process has added to the log. */
  readNow(): void {
    this.#streams.readNow();
  }

  refuseOpenings(): void {
    this.#isDraining = true;
  }

  drain(): Promise<void> {
    this.#isDraining = true;
    return this.#streams.drain();
  }

  async #takeSlot(caller: Caller, { plan }: Principal, onTooMany: () => Promise<void>): Promise<Slot> {
    try {
      return await this.#slots.take(caller, maxEventStreams[plan]);
    } catch (refusal) {
      await onTooMany();
      throw refusal;
    }
  }

  /** Nothing of the request hangs on what is begun: it may last an hour. */
  #begin(
    { key, principal, memory, selection, filter, framing, onEnd }: StreamOpening,
    after: EventPosition,
    bytesKept: number,
    slot: Slot,
    output: Writable,
  ): FeedStream<StoreEvent> {
    const { stores, callers, onFailure } = this.#options;
    const caller = callers.for(principal.id);
    // Each read has a caller of its own: the failure of one isn't that of the next.
    const events = () => new Services(stores.for(caller.apart()), principal).events;
    const subscriber = this.#subscribers.acquire(key, () => new KeySubscriber(this.#options, key, principal));
    const shared = this.#texts.acquire(selection);
    return this.#streams.begin({
      subscriber: subscriber.value,
      output,
      after,
      framing,
      matches: events().predicateOf(filter),
      textOf: (event) => this.#texts.textOf(shared, event),
      readAfter: async (position, limit) => (await events().readAfter(position, limit)).events,
      turn: (goOn) => callers.streamTicks.wait(caller, goOn),
      hold: (bytes) => memory.tryKeep(bytesKept + bytes),
      endOf: (error) => {
        if (isUnavailable(error)) return undefined;
        if (describeFailure(error).logLevel === 'error') onFailure(error);
        return endFor(error);
      },
      onClose: (code) => {
        for (const each of [subscriber, shared, slot]) each.release();
        if (code !== undefined) onEnd(code);
      },
    });
  }
}

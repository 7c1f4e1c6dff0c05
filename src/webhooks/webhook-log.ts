import { eventBody } from '../domain/events/event-body.ts';
import { type EventPosition, eventIdOf, isLater, memoryOf, type StoreEvent } from '../domain/events/event.ts';
import { idOf } from '../domain/nouns.ts';
import type { Stores } from '../domain/stores.ts';
import type { DeliveryEvent, DeliveryLog } from '../platform/delivery/index.ts';
import type { Feed } from '../platform/feed/index.ts';
import type { WebhookTarget } from './webhook-target.ts';

/** The log of events, as endpoints are sent it: what is new from memory, and what is older from the database. */
export class WebhookLog implements DeliveryLog<WebhookTarget> {
  readonly #feed: Feed<StoreEvent>;
  readonly #stores: Pick<Stores, 'events' | 'clock'>;
  readonly #prefix: string;

  constructor(feed: Feed<StoreEvent>, stores: Pick<Stores, 'events' | 'clock'>, prefix: string) {
    this.#feed = feed;
    this.#stores = stores;
    this.#prefix = prefix;
  }

  async readAfter(target: WebhookTarget, position: EventPosition, limit: number): Promise<readonly DeliveryEvent[]> {
    const recent = this.#recent(position, limit);
    if (recent !== undefined) return recent.map((event) => this.#deliveryOf(event, target));
    const { isKnown, events } = await this.#stores.events.readAfter(position, limit);
    return isKnown ? events.map((event) => this.#deliveryOf(event, target)) : this.#resync(position);
  }

  /** Undefined when the position isn't in memory. */
  #recent(position: EventPosition, limit: number): readonly StoreEvent[] | undefined {
    const first = this.#feed.after(position);
    if (first === undefined) return undefined;
    const events: StoreEvent[] = [];
    for (let next: typeof first | undefined = first; events.length < limit;) {
      if (next === undefined || next === 'end') break;
      events.push(next);
      next = this.#feed.after(next.position);
    }
    return events;
  }

  /** The log has lost the position: the receiver is told so, and gets what the log still has. */
  async #resync(lost: EventPosition): Promise<readonly DeliveryEvent[]> {
    const before = await this.#stores.events.beginning();
    const at = new Date(this.#stores.clock.now());
    const id = `resync-${eventIdOf(lost)}`;
    const type = 'store.resync';
    const body = (): string => textOf(type, at, { id, type, at: at.toISOString() });
    return [{ id, position: before, subject: undefined, at, isReplay: false, isWanted: true, bytes: 0, body }];
  }

  #deliveryOf(event: StoreEvent, { eventTypes, isThin, replayedTo }: WebhookTarget): DeliveryEvent {
    const { position, type, at, subject } = event;
    return {
      id: eventIdOf(position),
      position,
      subject: subject && `${subject.noun} ${idOf(subject.noun, subject.row)}`,
      at,
      isReplay: replayedTo !== null && !isLater(position, replayedTo),
      isWanted: type === 'store.resync' || eventTypes === null || eventTypes.includes(type),
      bytes: memoryOf(event),
      body: () => textOf(type, at, eventBody(event, this.#prefix, isThin)),
    };
  }
}

/** The body of a delivery, as Standard Webhooks has it. */
export function textOf(type: string, at: Date, data: object): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

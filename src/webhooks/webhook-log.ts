import { eventBody } from '../domain/events/event-body.ts';
import { type EventPosition, eventIdOf, isLater, memoryOf, type StoreEvent } from '../domain/events/event.ts';
import { idOf } from '../domain/nouns.ts';
import type { Stores } from '../domain/stores.ts';
import type { WebhookEndpoint } from '../domain/webhooks/webhook-endpoint.entity.ts';
import type { DeliveryEvent, DeliveryLog } from '../platform/delivery/index.ts';
import type { Feed } from '../platform/feed/index.ts';

/** The log of events, as endpoints are sent it: what is new from memory, and what is older from the database. */
export class WebhookLog implements DeliveryLog<WebhookEndpoint> {
  readonly #feed: Feed<StoreEvent>;
  readonly #stores: Pick<Stores, 'events' | 'clock'>;
  readonly #prefix: string;

  constructor(feed: Feed<StoreEvent>, stores: Pick<Stores, 'events' | 'clock'>, prefix: string) {
    this.#feed = feed;
    this.#stores = stores;
    this.#prefix = prefix;
  }

  async readAfter(
    endpoint: WebhookEndpoint,
    position: EventPosition,
    limit: number,
  ): Promise<readonly DeliveryEvent[]> {
    const recent = this.#recent(position, limit);
    if (recent !== undefined) return recent.map((event) => this.#deliveryOf(event, endpoint));
    const { isKnown, events } = await this.#stores.events.readAfter(position, limit);
    return isKnown ? events.map((event) => this.#deliveryOf(event, endpoint)) : this.#resync(position);
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

  #deliveryOf(event: StoreEvent, { eventTypes, isThin, replayedTo }: WebhookEndpoint): DeliveryEvent {
    const { position, type, at, subject } = event;
    return {
      id: eventIdOf(position),
      position,
      subject: subject && `${subject.noun} ${idOf(subject.noun, subject.row)}`,
      at,
      isReplay: typeof replayedTo === 'string' && !isLater(position, replayedTo),
      isWanted: type === 'store.resync' || !eventTypes || eventTypes.includes(type),
      bytes: memoryOf(event),
      body: () => textOf(type, at, eventBody(event, this.#prefix, isThin)),
    };
  }
}

/** The body of a delivery, as Standard Webhooks has it. */
export function textOf(type: string, at: Date, data: object): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

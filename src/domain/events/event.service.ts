import { DomainError } from '../errors.ts';
import { InputCheck } from '../input.ts';
import { defaultPageSize, maxPageSize } from '../page.ts';
import { choiceRule, integerRule } from '../rules.ts';
import type { Stores } from '../stores.ts';
import { eventPredicate, type EventFilter, type EventPredicate } from './event-filter.ts';
import { eventIdOf, eventIdRule, type EventPosition, type StoreEvent } from './event.ts';
import type { EventsAfter } from './event.store.ts';

/** The client's page, unvalidated; `null` counts as left out. */
export interface EventListRequest {
  readonly first?: number | null | undefined;
  /** The id of an event. Without one, and without its position, the page begins with the oldest event. */
  readonly after?: string | null | undefined;
  readonly position?: EventPosition | undefined;
  readonly filter?: EventFilter | null | undefined;
}

/** A page of the log, oldest first. */
export interface EventPage {
  readonly events: readonly StoreEvent[];
  /** Whether the log goes on; with a filter a page may be short, or empty, while it does. */
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Where the next page begins; undefined for an empty page at the beginning. */
  readonly end: EventPosition | undefined;
}

/** The most events that one page looks at. */
const maxScanned = 1_000;
const scanBatchSize = 250;

export class EventService {
  readonly #stores: Pick<Stores, 'events'>;

  constructor(stores: Pick<Stores, 'events'>) {
    this.#stores = stores;
  }

  /** The id of the position now: what is committed later comes after it. */
  async cursor(): Promise<string> {
    return eventIdOf(await this.#stores.events.last());
  }

  /** Throws VALIDATION_FAILED, and EVENTS_GONE when the log has no such position. */
  async list({ first, after, position, filter }: EventListRequest): Promise<EventPage> {
    const check = new InputCheck();
    const size = check.optional('first', first, integerRule(0, maxPageSize)) ?? defaultPageSize;
    const from = check.optional('after', after, eventIdRule) ?? position;
    checkFilter(check, filter);
    check.throwIfRefused();
    return size === 0 ? this.#emptyPage(from) : this.#scan(size, from, this.predicateOf(filter));
  }

  /** Which events of a list or a stream are read; undefined when all are. */
  predicateOf(filter: EventFilter | null | undefined): EventPredicate | undefined {
    return eventPredicate(filter);
  }

  /** The empty page at the end of the log, to begin with. */
  async now(): Promise<EventPage> {
    return { events: [], hasNextPage: false, hasPreviousPage: true, end: await this.#stores.events.last() };
  }

  async readAfter(position: EventPosition | undefined, limit: number): Promise<EventsAfter> {
    const found = await this.#stores.events.readAfter(position, limit);
    if (!found.isKnown) throw eventsGone();
    return found;
  }

  async #emptyPage(after: EventPosition | undefined): Promise<EventPage> {
    const { events } = await this.readAfter(after, 1);
    return { events: [], hasNextPage: events.length > 0, hasPreviousPage: after !== undefined, end: after };
  }

  async #scan(size: number, after: EventPosition | undefined, matches: EventPredicate | undefined): Promise<EventPage> {
    const batchSize = matches === undefined ? size : scanBatchSize;
    const found: StoreEvent[] = [];
    let end = after;
    let hasNextPage = true;
    for (let scanned = 0; hasNextPage && scanned < maxScanned && found.length < size;) {
      const { events, last } = await this.readAfter(end, batchSize);
      for (const event of events) {
        if (found.length === size) break;
        scanned += 1;
        end = event.position;
        if (matches === undefined || matches(event)) found.push(event);
      }
      end ??= last;
      hasNextPage = events.length > 0 && end !== last;
    }
    return { events: found, hasNextPage, hasPreviousPage: after !== undefined, end };
  }
}

/** Refuses lists that are too long. */
export function checkFilter(check: InputCheck, filter: EventFilter | null | undefined): void {
  check.optional('filter.typeIn', filter?.typeIn, choiceRule());
  check.optional('filter.nodeIdIn', filter?.subjectIn, choiceRule());
}

function eventsGone(): DomainError {
  return new DomainError(
    'EVENTS_GONE',
    'The log of changes no longer has this position: it is too old, or the database was restored. Take a new position, and read the lists again.',
  );
}

import { type Actor, nameInHistory } from '../access/principal.ts';
import { hasScope } from '../access/scope.ts';
import { DomainError, validationFailed } from '../errors.ts';
import { eventIdRule, type EventPosition, isLater } from '../events/event.ts';
import type { Id } from '../id.ts';
import { InputCheck } from '../input.ts';
import { LatestFirst } from '../latest-first.ts';
import { pageOf, parseListRequest, type ListRequest, type Page } from '../page.ts';
import { integerRule } from '../rules.ts';
import { existing, findByIds, lockById, type RowData } from '../store.ts';
import type { Stores } from '../stores.ts';
import { meets, type Precondition } from '../version.ts';
import { parseChanges, parseNew } from '../written-fields.ts';
import type { WebhookAttempt } from './webhook-attempt.entity.ts';
import type { WebhookEndpointChange } from './webhook-endpoint-change.entity.ts';
import { type WebhookEndpoint, type WebhookState, webhookStateOf, webhookVersion } from './webhook-endpoint.entity.ts';
import { type NewWebhook, type WebhookChanges, webhookFields } from './webhook-fields.ts';
import type { WebhookObserver, WebhookOutlet } from './webhook-outlet.ts';
import {
  attemptList,
  type NewWebhookEndpoint,
  type WebhookBacklog,
  webhookHistoryList,
  webhookList,
  webhookSorting,
  type WebhookStore,
} from './webhook.store.ts';

export interface WebhookWithSecret {
  readonly webhookEndpoint: WebhookEndpoint;
  readonly secret: string;
}

const noun = 'webhook endpoint';
const maxEndpoints = 1_000;
const maxEndpointsOfKey = 5;
const overlapSecondsRule = integerRule(0, 7 * 86_400);
const defaultOverlapSeconds = 86_400;

/** Among how many events the backlogs of all endpoints that are asked for together are counted. */
const maxBacklog = { counted: 10_000, looked: 200_000 };

/** Administrators manage all of them, a key its own; others are as if they weren't there. */
export class WebhookService {
  readonly #stores: Stores;
  readonly #by: string;
  /** Undefined for administrators. */
  readonly #ownerId: Id | undefined;
  readonly #outlet: WebhookOutlet | undefined;
  readonly #observer: WebhookObserver | undefined;

  /** Nothing is sent without an outlet: `WEBHOOK_SIGNING_KEY` isn't set. Inside a transaction there is no observer. */
  constructor(stores: Stores, actor: Actor, outlet: WebhookOutlet | undefined, observer?: WebhookObserver) {
    this.#stores = stores;
    this.#by = nameInHistory(actor);
    this.#ownerId = hasScope(actor, 'admin') ? undefined : (actor.id as Id);
    this.#outlet = outlet;
    this.#observer = observer;
  }

  async list(request: ListRequest<object, 'ID'>): Promise<Page<WebhookEndpoint>> {
    const { filter, keyset } = parseListRequest(webhookList, { ...request, filter: this.#own });
    return pageOf(webhookSorting, keyset, await this.#stores.webhooks.page(filter, keyset));
  }

  count(): Promise<number> {
    return this.#stores.webhooks.count(this.#own);
  }

  /** Null when there is none with this id. */
  async find(id: string): Promise<WebhookEndpoint | null> {
    const [endpoint = null] = await findByIds(this.#stores.webhooks, [id]);
    return endpoint !== null && this.#isOwn(endpoint) ? endpoint : null;
  }

  async get(id: string): Promise<WebhookEndpoint> {
    return existing(await this.find(id), noun, id);
  }

  stateOf(endpoint: WebhookEndpoint): WebhookState {
    return webhookStateOf(endpoint, this.#outlet?.signingKeys);
  }

  get attempts(): LatestFirst<WebhookAttempt, typeof attemptList> {
    return new LatestFirst(this.#stores.webhooks.attempts, { list: attemptList, property: 'endpointId' });
  }

  get history(): LatestFirst<WebhookEndpointChange, typeof webhookHistoryList> {
    return new LatestFirst(this.#stores.webhooks.history, { list: webhookHistoryList, property: 'endpointId' });
  }

  /** The events that each endpoint waits for, whatever its state. */
  backlogs(ids: readonly Id[]): Promise<WebhookBacklog[]> {
    const looked = Math.max(maxBacklog.counted, Math.floor(maxBacklog.looked / Math.max(1, ids.length)));
    return this.#stores.webhooks.backlogs(ids, { ...maxBacklog, looked });
  }

  /** Throws CONFLICT when there are a thousand already, or the key has five. */
  async create({ after, ...input }: NewWebhook): Promise<WebhookWithSecret> {
    const outlet = this.#needOutlet();
    const check = new InputCheck();
    const fields = parseNew(this.#fields(outlet), check, input);
    const given = check.optional('after', after, eventIdRule);
    check.throwIfRefused();
    const position = given ?? (await this.#stores.events.last());
    await this.#checkPosition(position);
    const ownerId = this.#ownerId ?? null;
    const createdAt = new Date(this.#stores.clock.now());
    const row: NewWebhookEndpoint = { ...fields, ownerId, signingKey: firstOf(outlet), position, createdAt };
    return this.#attributed(async ({ webhooks }) => {
      await webhooks.lockInsertions();
      const count = await webhooks.count({});
      const own = ownerId === null ? 0 : await webhooks.count({ ownerId });
      if (count >= maxEndpoints || own >= maxEndpointsOfKey) {
        const there = own >= maxEndpointsOfKey ? `This key has ${own}` : `There are ${count}`;
        throw new DomainError('CONFLICT', `${there} webhook endpoints already: delete one first.`);
      }
      const id = await webhooks.insert(row);
      const [endpoint] = await webhooks.byIds([id]);
      return { webhookEndpoint: existing(endpoint, noun, id), secret: outlet.secretOf(id, 1) };
    });
  }

  async update(id: string, input: WebhookChanges, precondition?: Precondition): Promise<WebhookEndpoint> {
    const check = new InputCheck();
    const changes = parseChanges(this.#fields(this.#needOutlet()), check, input);
    check.throwIfRefused();
    return this.#change(id, precondition, () => changes);
  }

  /** Nothing is sent to it until it is resumed; it goes on from where it was. */
  pause(id: string, precondition?: Precondition): Promise<WebhookEndpoint> {
    return this.#change(id, precondition, () => ({ isPaused: true }));
  }

  /** Also when it is disabled. It is sent to at once. One whose key has ended is disabled again. */
  resume(id: string, precondition?: Precondition): Promise<WebhookEndpoint> {
    this.#needOutlet();
    return this.#change(id, precondition, () => ({ ...recovered, isPaused: false, disabledReason: null }));
  }

  /** Gives it a new secret; deliveries are signed by both for the overlap. */
  async rotateSecret(
    id: string,
    overlapSeconds?: number | null,
    precondition?: Precondition,
  ): Promise<WebhookWithSecret> {
    const outlet = this.#needOutlet();
    const check = new InputCheck();
    const overlap = check.optional('overlapSeconds', overlapSeconds, overlapSecondsRule) ?? defaultOverlapSeconds;
    check.throwIfRefused();
    const webhookEndpoint = await this.#change(id, precondition, ({ secretVersion }) => ({
      signingKey: firstOf(outlet),
      secretVersion: secretVersion + 1,
      previousSecretVersion: overlap === 0 ? null : secretVersion,
      previousSecretExpiresAt: overlap === 0 ? null : new Date(this.#stores.clock.now() + overlap * 1_000),
    }));
    await this.#observer?.onRotated();
    return { webhookEndpoint, secret: outlet.secretOf(webhookEndpoint.id, webhookEndpoint.secretVersion) };
  }

  /** Throws EVENTS_GONE, and VALIDATION_FAILED for an event that the endpoint hasn't come to: nothing is skipped. */
  async replay(id: string, after: string, precondition?: Precondition): Promise<WebhookEndpoint> {
    this.#needOutlet();
    const check = new InputCheck();
    const position = check.required('after', after, eventIdRule);
    check.throwIfRefused();
    await this.#checkPosition(position);
    return this.#change(
      id,
      precondition,
      (endpoint) => {
        if (isLater(position, endpoint.position)) throw validationFailed([{ field: 'after', message: tooLate }]);
        const { replayedTo } = endpoint;
        const isReplay = typeof replayedTo === 'string' && isLater(replayedTo, endpoint.position);
        return { ...recovered, position, replayedTo: isReplay ? replayedTo : endpoint.position, refusals: {} };
      },
      async ({ webhooks }, endpoint) => {
        // Also where the position is the same: what the process has sent since isn't saved yet.
        await webhooks.endLease(endpoint.id);
        await webhooks.recordReplay(endpoint.id, this.#by, new Date(this.#stores.clock.now()));
      },
    );
  }

  /** Sends `webhook.test` now, whatever its state. Throws CONFLICT while too many requests are under way. */
  async test(id: string): Promise<RowData<WebhookAttempt>> {
    const outlet = this.#needOutlet();
    const attempt = await outlet.sendTest((await this.get(id)).id);
    if (attempt === undefined) {
      const message = 'Too many test events, or requests to this address, are under way. Try again in a few seconds.';
      throw new DomainError('CONFLICT', message);
    }
    await this.#stores.transaction(async ({ webhooks }) => {
      // The endpoint may have been deleted meanwhile.
      await this.#lock(webhooks, id);
      await webhooks.recordAttempt(attempt);
    });
    return attempt;
  }

  async delete(id: string, precondition?: Precondition): Promise<Id> {
    return this.#attributed(async ({ webhooks }) => {
      const endpoint = await this.#lock(webhooks, id);
      checkVersion(endpoint, precondition);
      await webhooks.delete(endpoint.id);
      return endpoint.id;
    });
  }

  get #own(): { readonly ownerId?: Id | undefined } {
    return { ownerId: this.#ownerId };
  }

  #isOwn({ ownerId }: WebhookEndpoint): boolean {
    return this.#ownerId === undefined || ownerId === this.#ownerId;
  }

  #fields(outlet: WebhookOutlet) {
    return webhookFields((url) => outlet.refusalOf(url, this.#ownerId === undefined));
  }

  async #lock(webhooks: WebhookStore, id: string): Promise<WebhookEndpoint> {
    const endpoint = await lockById(webhooks, noun, id);
    return existing(this.#isOwn(endpoint) ? endpoint : null, noun, id);
  }

  #needOutlet(): WebhookOutlet {
    if (this.#outlet !== undefined) return this.#outlet;
    throw new DomainError(
      'CONFLICT',
      'Webhooks are off, because WEBHOOK_SIGNING_KEY is not set: `npm run -s webhooks -- secret` makes one.',
    );
  }

  /** Throws EVENTS_GONE. */
  async #checkPosition(position: EventPosition): Promise<void> {
    const { isKnown } = await this.#stores.events.readAfter(position, 1);
    if (!isKnown) {
      throw new DomainError('EVENTS_GONE', 'The log no longer has this event: leave `after` out, or use a later one.');
    }
  }

  async #attributed<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
    const result = await this.#stores.transaction(async (stores) => {
      await stores.attributeChangesTo(this.#by);
      return work(stores);
    });
    await this.#observer?.onChange();
    return result;
  }

  async #change(
    id: string,
    precondition: Precondition,
    change: (endpoint: WebhookEndpoint) => Partial<RowData<WebhookEndpoint>>,
    also: (stores: Stores, endpoint: WebhookEndpoint) => Promise<void> = async () => undefined,
  ): Promise<WebhookEndpoint> {
    const { before, endpoint } = await this.#attributed(async (stores) => {
      const { webhooks } = stores;
      const locked = await this.#lock(webhooks, id);
      checkVersion(locked, precondition);
      const changes = change(locked);
      // The process that delivers reads it again.
      await webhooks.update(locked.id, { ...changes, leasedUntil: null });
      if (endsLease.some((property) => property in changes && changes[property] !== locked[property]))
        await webhooks.endLease(locked.id);
      await also(stores, locked);
      const [changed] = await webhooks.byIds([locked.id]);
      return { before: locked, endpoint: existing(changed, noun, id) };
    });
    if (before.state !== endpoint.state) this.#observer?.onSwitched(endpoint, this.#by);
    return endpoint;
  }
}

/** Where it is sent to, what, and what its failures were: a process that delivers begins anew. */
const endsLease = ['url', 'eventTypes', 'isThin', 'failures'] as const;

const recovered = { failures: 0, failingSince: null, failedAt: null, nextAttemptAt: null, isHealthy: true } as const;

const tooLate = 'is later than the position of the endpoint: what lies between them would not be sent.';

function firstOf({ signingKeys: [first = ''] }: WebhookOutlet): string {
  return first;
}

function checkVersion(endpoint: WebhookEndpoint, precondition: Precondition): void {
  if (meets(precondition, () => webhookVersion(endpoint))) return;
  throw new DomainError('PRECONDITION_FAILED', `The ${noun} ${endpoint.id} has changed: read it again.`);
}

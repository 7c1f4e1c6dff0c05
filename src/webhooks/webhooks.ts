import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { type EventPosition, memoryOf, type StoreEvent } from '../domain/events/event.ts';
import { isUnavailable } from '../domain/errors.ts';
import type { Id } from '../domain/id.ts';
import { existing, type RowData } from '../domain/store.ts';
import type { Stores } from '../domain/stores.ts';
import type { WebhookAttempt } from '../domain/webhooks/webhook-attempt.entity.ts';
import { type WebhookEndpoint, webhookStateOf } from '../domain/webhooks/webhook-endpoint.entity.ts';
import type { WebhookOutlet } from '../domain/webhooks/webhook-outlet.ts';
import { keptAttempts } from '../domain/webhooks/webhook.store.ts';
import { every, inBackground } from '../platform/background.ts';
import { Deliveries, type DeliveriesOptions, type DeliveryEvent } from '../platform/delivery/index.ts';
import { Sender, type SendResult } from '../platform/egress/index.ts';
import { Feed } from '../platform/feed/index.ts';
import { version as serviceVersion } from '../settings/version.ts';
import { LeasedEndpoints, type WebhookLeases } from './leased-endpoints.ts';
import { signatureHeaders } from './signature.ts';
import { textOf, WebhookLog } from './webhook-log.ts';
import { WebhookChecks, type WebhookSettings } from './webhook-checks.ts';

/** What a process that delivers is called with. */
interface DeliveryObserver extends Pick<
  DeliveriesOptions<WebhookEndpoint>,
  'holderId' | 'onAttempt' | 'onFailing' | 'onRecovered' | 'onDisabled' | 'onFailure'
> {
  /** The signing keys of so many endpoints aren't set: called when the number changes. */
  readonly onHeld: (count: number) => void;
  /** The key that manages it was revoked or has expired. */
  readonly onKeyEnded: (endpoint: Pick<WebhookEndpoint, 'id' | 'url'>) => void;
}

interface WebhooksOptions {
  readonly stores: Stores;
  readonly leases: WebhookLeases;
  readonly settings: WebhookSettings;
  /** Before the paths of resources. */
  readonly prefix: string;
}

const deleteEveryMillis = 60_000;
const countEveryMillis = 5_000;
/** A round of another process, and what it takes. */
const rotationMillis = 1_500;
/** Test events under way. */
const maxTests = 8;

/** Sends test events to any endpoint and, once started, the log to those that this process has leased. */
export class Webhooks extends WebhookChecks implements WebhookOutlet {
  readonly #options: WebhooksOptions;
  readonly #sender: Sender;
  #running: { deliveries: Deliveries<WebhookEndpoint>; feed: Feed<StoreEvent>; timers: NodeJS.Timeout[] } | undefined;
  #endpoints: Readonly<Record<string, number>> = {};
  #tests = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: WebhooksOptions) {
    super(options.settings);
    this.#options = options;
    this.#sender = new Sender({ destinations: this.destinations, now: () => this.#now() });
  }

  /** For metrics. Those of endpoints are at most 5 s old. */
  get figures() {
    const { deliveries } = this.#running ?? {};
    const lagSeconds = {
      active: deliveries?.lagSeconds('active') ?? 0,
      failing: deliveries?.lagSeconds('failing') ?? 0,
    };
    return { lagSeconds, endpoints: this.#endpoints };
  }

  start({ onFailure, onKeyEnded, onHeld, ...events }: DeliveryObserver): void {
    const { stores, leases, prefix } = this.#options;
    let end: EventPosition | undefined;
    const feed: Feed<StoreEvent> = new Feed({
      log: stores.events,
      bytesOf: memoryOf,
      isOutage: isUnavailable,
      onTick: () => {
        if (feed.end === end) return;
        ({ end } = feed);
        deliveries.wake();
      },
      onFailure,
    });
    const report = (error: unknown): void => {
      if (!isUnavailable(error)) onFailure(error);
    };
    const { signingKeys } = this;
    const deliveries = new Deliveries<WebhookEndpoint>({
      ...events,
      store: new LeasedEndpoints({ leases, stores, signingKeys, onKeyEnded }),
      log: new WebhookLog(feed, stores, prefix),
      send: (endpoint, event) => this.#send(endpoint, event),
      now: () => this.#now(),
      onFailure: report,
    });
    const timers = [
      every(deleteEveryMillis, () => this.#deleteOld().catch(report)),
      every(countEveryMillis, () => this.#countEndpoints(onHeld)),
    ];
    inBackground(this.#countEndpoints(onHeld));
    this.#running = { deliveries, feed, timers };
    deliveries.start();
  }

  #deleteOld(): Promise<void> {
    const { millis, count } = keptAttempts;
    return this.#options.stores.webhooks.deleteOld(new Date(this.#now() - millis), count);
  }

  /** Never rejects. */
  async #countEndpoints(onHeld: DeliveryObserver['onHeld']): Promise<void> {
    const { held: before = 0 } = this.#endpoints;
    const groups = await this.#options.leases.states().catch(() => undefined);
    if (groups === undefined) return;
    const counts: Record<string, number> = { active: 0, paused: 0, held: 0, failing: 0, disabled: 0 };
    for (const { count, ...endpoint } of groups) {
      const state = webhookStateOf(endpoint, this.signingKeys);
      counts[state] = (counts[state] ?? 0) + count;
    }
    this.#endpoints = counts;
    const { held = 0 } = counts;
    if (held !== before) onHeld(held);
  }

  /** Begins no further delivery; those that are under way end, at most within 15 s. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { deliveries, feed, timers = [] } = this.#running ?? {};
    for (const timer of timers) clearInterval(timer);
    feed?.stop();
    await deliveries?.stop();
    this.#sender.close();
  }

  /** An endpoint was changed: this process applies it at once. Never rejects. */
  async applyChanges(): Promise<void> {
    await this.#running?.deliveries.applyChanges();
  }

  /** An endpoint has a new secret: also other processes, which ask each second, sign by it from then on. Never rejects. */
  async applyRotation(): Promise<void> {
    const { deliveries } = this.#running ?? {};
    if (deliveries === undefined) return;
    await deliveries.applyChanges();
    const hasOthers = await this.#options.leases.hasOthers(deliveries.holderId).catch(() => true);
    if (hasOthers) await wait(rotationMillis);
  }

  async sendTest(id: Id): Promise<RowData<WebhookAttempt> | undefined> {
    if (this.#tests >= maxTests) return undefined;
    this.#tests += 1;
    try {
      const [endpoint] = await this.#options.stores.webhooks.byIds([id]);
      const at = new Date(this.#now());
      const eventId = `test-${randomUUID()}`;
      const test = { id: eventId, isReplay: false, body: () => textOf('webhook.test', at, { id: eventId }) };
      const result = await this.#send(existing(endpoint, 'webhook endpoint', id), test);
      if (result === 'busy') return undefined;
      const { status = null, failure = null, cause = null, durationMillis } = result;
      return { endpointId: id, eventId, at, status, failure, cause, durationMillis };
    } finally {
      this.#tests -= 1;
    }
  }

  #send(
    endpoint: WebhookEndpoint,
    { id, isReplay, body: bodyOf }: Pick<DeliveryEvent, 'id' | 'isReplay' | 'body'>,
  ): Promise<SendResult | 'busy'> {
    const now = this.#now();
    const body = bodyOf();
    const headers = {
      'user-agent': `petstore-gateway/${serviceVersion}`,
      // A receiver that remembers ids knows.
      ...(isReplay && { 'webhook-replay': '1' }),
      ...signatureHeaders(id, Math.floor(now / 1_000), body, this.secrets.signingSecrets(endpoint, now)),
    };
    return this.#sender.send({ url: endpoint.url, headers, body, isTrusted: endpoint.ownerId === null });
  }

  #now(): number {
    return this.#options.stores.clock.now();
  }
}

import { randomUUID } from 'node:crypto';

import { serviceItself } from '../domain/access/principal.ts';
import { type EventPosition, memoryOf, type StoreEvent } from '../domain/events/event.ts';
import { isUnavailable } from '../domain/errors.ts';
import type { RowData } from '../domain/store.ts';
import type { Stores } from '../domain/stores.ts';
import type { WebhookAttempt } from '../domain/webhooks/webhook-attempt.entity.ts';
import { type WebhookOutlet, WebhookService } from '../domain/webhooks/webhook.service.ts';
import { every, inBackground } from '../platform/background.ts';
import {
  Deliveries,
  type DeliveriesOptions,
  Destinations,
  type DestinationRules,
  Sender,
} from '../platform/delivery/index.ts';
import { Feed } from '../platform/feed/index.ts';
import { version as serviceVersion } from '../settings/version.ts';
import { LeasedTargets, type WebhookLeases } from './leased-targets.ts';
import { textOf, WebhookLog } from './webhook-log.ts';
import { type TestedEndpoint, WebhookSecrets, type WebhookTarget } from './webhook-target.ts';

export interface WebhooksOptions extends Pick<
  DeliveriesOptions<WebhookTarget>,
  'onAttempt' | 'onFailing' | 'onRecovered' | 'onDisabled' | 'onFailure'
> {
  /** The signing keys of so many endpoints aren't set: called when the number changes. */
  readonly onHeld: (count: number) => void;
  /** The key that manages it was revoked or has expired. */
  readonly onKeyEnded: (endpoint: Pick<WebhookTarget, 'id' | 'url'>) => void;
  readonly stores: Stores;
  readonly leases: WebhookLeases;
  readonly signingKeys: readonly Buffer[];
  readonly destinations: DestinationRules;
  /** Before the paths of resources. */
  readonly prefix: string;
}

const deleteEveryMillis = 60_000;
const countEveryMillis = 5_000;
/** Test events under way. */
const maxTests = 8;

/** Sends the log to the endpoints that this process has leased, and test events to any. */
export class Webhooks implements WebhookOutlet {
  readonly #options: WebhooksOptions;
  readonly #destinations: Destinations;
  readonly #secrets: WebhookSecrets;
  readonly #sender: Sender;
  #running: { deliveries: Deliveries<WebhookTarget>; feed: Feed<StoreEvent>; timers: NodeJS.Timeout[] } | undefined;
  #endpoints: Readonly<Record<string, number>> = {};
  #tests = 0;
  #stopping: Promise<void> | undefined;

  constructor(options: WebhooksOptions) {
    this.#options = options;
    this.#destinations = new Destinations(options.destinations);
    this.#secrets = new WebhookSecrets(options.signingKeys);
    this.#sender = new Sender({
      destinations: this.#destinations,
      userAgent: `petstore-gateway/${serviceVersion}`,
      now: () => this.#now(),
    });
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

  start(): void {
    const { stores, leases, prefix, onFailure, onKeyEnded, ...observers } = this.#options;
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
    const deliveries = new Deliveries<WebhookTarget>({
      ...observers,
      store: new LeasedTargets({ leases, secrets: this.#secrets, now: () => this.#now(), onKeyEnded }),
      log: new WebhookLog(feed, stores, prefix),
      sender: this.#sender,
      now: () => this.#now(),
      onFailure: report,
    });
    const service = new WebhookService(stores, serviceItself, this);
    const timers = [
      every(deleteEveryMillis, () => service.deleteOld().catch(report)),
      every(countEveryMillis, () => this.#countEndpoints()),
    ];
    inBackground(this.#countEndpoints());
    this.#running = { deliveries, feed, timers };
    deliveries.start();
  }

  /** Never rejects. */
  async #countEndpoints(): Promise<void> {
    const { leases, onHeld } = this.#options;
    const { held: before = 0 } = this.#endpoints;
    this.#endpoints = await leases.states(this.signingKeys).catch(() => this.#endpoints);
    const { held = 0 } = this.#endpoints;
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

  /** An endpoint was changed: this process heeds it at once. Never rejects. */
  async heedChanges(): Promise<void> {
    await this.#running?.deliveries.heedChanges();
  }

  get signingKeys(): readonly string[] {
    return this.#secrets.fingerprints;
  }

  refusalOf(url: string, isOfAdministrators: boolean): string | undefined {
    return this.#destinations.refusalOf(url, isOfAdministrators);
  }

  secretOf(id: string, version: number): string {
    return this.#secrets.secretOf(id, version);
  }

  async sendTest(endpoint: TestedEndpoint): Promise<RowData<WebhookAttempt> | undefined> {
    if (this.#tests >= maxTests) return undefined;
    this.#tests += 1;
    try {
      const at = new Date(this.#now());
      const id = `test-${randomUUID()}`;
      const secrets = this.#secrets.signingSecrets(endpoint, at.getTime());
      const body = textOf('webhook.test', at, { id });
      const { url, ownerId } = endpoint;
      const isTrusted = ownerId === null;
      const result = await this.#sender.send({ url, id, isReplay: false, isTrusted, body, secrets });
      if (result === 'busy') return undefined;
      const { status = null, failure = null, cause = null, durationMillis } = result;
      return { endpointId: endpoint.id, eventId: id, at, status, failure, cause, durationMillis };
    } finally {
      this.#tests -= 1;
    }
  }

  #now(): number {
    return this.#options.stores.clock.now();
  }
}

import type { Id } from '../domain/id.ts';
import type { Stores } from '../domain/stores.ts';
import type { WebhookEndpoint } from '../domain/webhooks/webhook-endpoint.entity.ts';
import type { DeliveryStore, Progress, SaveOutcome } from '../platform/delivery/index.ts';

export interface WebhookLeases extends Omit<DeliveryStore<WebhookEndpoint>, 'lease'> {
  /** Of endpoints whose signing key is one of these; `isNew` where the process hadn't leased it, or it was changed. */
  lease(
    holderId: string,
    signingKeys: readonly string[],
  ): Promise<readonly { readonly id: Id; readonly isNew: boolean }[]>;
  /** Whether other processes deliver as well. */
  hasOthers(holderId: string): Promise<boolean>;
  /** Disables those whose key has ended, and returns them. */
  endOwned(): Promise<readonly Pick<WebhookEndpoint, 'id' | 'url'>[]>;
  /** How many endpoints there are, by what their state is made of. */
  states(): Promise<readonly (Pick<WebhookEndpoint, 'state' | 'signingKey'> & { readonly count: number })[]>;
}

interface LeasedEndpointsOptions {
  readonly leases: WebhookLeases;
  readonly stores: { readonly webhooks: Pick<Stores['webhooks'], 'byIds'> };
  readonly signingKeys: readonly string[];
  readonly onKeyEnded: (endpoint: Pick<WebhookEndpoint, 'id' | 'url'>) => void;
}

/** The endpoints that this process has leased. A round reads the rows of what is new, or was missed. */
export class LeasedEndpoints implements DeliveryStore<WebhookEndpoint> {
  readonly #options: LeasedEndpointsOptions;
  #endpoints = new Map<Id, WebhookEndpoint>();

  constructor(options: LeasedEndpointsOptions) {
    this.#options = options;
  }

  async lease(holderId: string): Promise<readonly WebhookEndpoint[]> {
    const { leases, signingKeys, stores, onKeyEnded } = this.#options;
    const known = this.#endpoints;
    // After a failure all of them are read again: a change may have been missed.
    this.#endpoints = new Map();
    for (const ended of await leases.endOwned()) onKeyEnded(ended);
    const leased = await leases.lease(holderId, signingKeys);
    const isKnown = ({ id, isNew }: (typeof leased)[number]): boolean => !isNew && known.has(id);
    const unknown = leased.filter((each) => !isKnown(each));
    const read = await stores.webhooks.byIds(unknown.map(({ id }) => id));
    const kept = leased.filter(isKnown).flatMap(({ id }) => known.get(id) ?? []);
    // Another process may have leased one since.
    const own = read.flatMap((endpoint) => (endpoint?.holder === holderId ? endpoint : []));
    this.#endpoints = new Map([...kept, ...own].map((endpoint) => [endpoint.id, endpoint]));
    return [...this.#endpoints.values()];
  }

  async save(progress: readonly Progress[]): Promise<ReadonlyMap<string, SaveOutcome>> {
    const outcomes = await this.#options.leases.save(progress);
    for (const [id, outcome] of outcomes) if (outcome === 'lost') this.#endpoints.delete(id as Id);
    return outcomes;
  }

  release(holderId: string): Promise<void> {
    return this.#options.leases.release(holderId);
  }
}

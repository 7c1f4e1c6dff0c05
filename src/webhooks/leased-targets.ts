import type { DeliveryStore, Endpoint, Progress, SaveOutcome } from '../platform/delivery/index.ts';
import type { SecretVersions, WebhookSecrets, WebhookTarget } from './webhook-target.ts';

/** The leases of the database, without what isn't stored. */
export interface WebhookLeases extends Omit<DeliveryStore<WebhookTarget>, 'lease'> {
  lease(
    holderId: string,
    signingKeys: readonly string[],
    missing: readonly string[],
  ): Promise<readonly { readonly id: string; readonly row: LeasedEndpoint | undefined }[]>;
  endOwned(): Promise<readonly Pick<WebhookTarget, 'id' | 'url'>[]>;
  states(signingKeys: readonly string[]): Promise<Readonly<Record<string, number>>>;
}

interface LeasedEndpoint extends Omit<WebhookTarget, 'failing' | 'secrets'>, SecretVersions {
  readonly failures: number;
  readonly failingSince: number | null;
  readonly failedAt: number | null;
  readonly nextAttemptAt: number | null;
}

interface LeasedTargetsOptions {
  readonly leases: WebhookLeases;
  readonly secrets: WebhookSecrets;
  readonly now: () => number;
  readonly onKeyEnded: (endpoint: Pick<WebhookTarget, 'id' | 'url'>) => void;
}

/** The endpoints that this process has leased. A round reads in full what is new, or was missed. */
export class LeasedTargets implements DeliveryStore<WebhookTarget> {
  readonly #options: LeasedTargetsOptions;
  #targets = new Map<string, WebhookTarget | undefined>();

  constructor(options: LeasedTargetsOptions) {
    this.#options = options;
  }

  async lease(holderId: string): Promise<readonly WebhookTarget[]> {
    const { leases, secrets, onKeyEnded } = this.#options;
    for (const ended of await leases.endOwned()) onKeyEnded(ended);
    const missing = [...this.#targets].filter(([, target]) => target === undefined).map(([id]) => id);
    const leased = await leases.lease(holderId, secrets.fingerprints, missing);
    this.#targets = new Map(leased.map(({ id, row }) => [id, row ? this.#targetOf(row) : this.#targets.get(id)]));
    return [...this.#targets.values()].filter((target) => target !== undefined);
  }

  async save(progress: readonly Progress[]): Promise<ReadonlyMap<string, SaveOutcome>> {
    const outcomes = await this.#options.leases.save(progress);
    for (const [id, outcome] of outcomes) if (outcome === 'lost') this.#targets.set(id, undefined);
    return outcomes;
  }

  release(holderId: string): Promise<void> {
    return this.#options.leases.release(holderId);
  }

  #targetOf({ failures, failingSince, failedAt, nextAttemptAt, ...leased }: LeasedEndpoint): WebhookTarget {
    const { secrets, now } = this.#options;
    const wait = failedAt === null || nextAttemptAt === null ? undefined : { from: failedAt, until: nextAttemptAt };
    const failing: Endpoint['failing'] =
      failures === 0 || failingSince === null ? undefined : { count: failures, since: failingSince, wait };
    return { ...leased, failing, secrets: () => secrets.signingSecrets(leased, now()) };
  }
}

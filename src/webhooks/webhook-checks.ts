import type { WebhookOutlet } from '../domain/webhooks/webhook-outlet.ts';
import { Destinations, type DestinationRules } from '../platform/egress/index.ts';
import { WebhookSecrets } from './webhook-secrets.ts';

export interface WebhookSettings extends DestinationRules {
  /** New secrets are of the first. */
  readonly signingKeys: readonly Buffer[];
}

/** What a process that serves has of webhooks, whether or not it delivers them. */
export abstract class WebhookChecks implements Omit<WebhookOutlet, 'sendTest'> {
  protected readonly destinations: Destinations;
  protected readonly secrets: WebhookSecrets;

  constructor({ signingKeys, ...rules }: WebhookSettings) {
    this.destinations = new Destinations(rules);
    this.secrets = new WebhookSecrets(signingKeys);
  }

  get signingKeys(): readonly string[] {
    return this.secrets.fingerprints;
  }

  refusalOf(url: string, isOfAdministrators: boolean): string | undefined {
    return this.destinations.refusalOf(url, isOfAdministrators);
  }

  secretOf(id: string, version: number): string {
    return this.secrets.secretOf(id, version);
  }
}

import type { Id } from '../id.ts';
import type { RowData } from '../store.ts';
import type { WebhookAttempt } from './webhook-attempt.entity.ts';
import type { WebhookEndpoint } from './webhook-endpoint.entity.ts';

/** The part of deliveries that needs no database. */
export interface WebhookOutlet {
  /** The fingerprints of the signing keys that are set; new secrets are of the first. */
  readonly signingKeys: readonly string[];
  /** A URL's fault, as a clause after it; undefined when it may be sent to. Those of administrators may be internal. */
  refusalOf(url: string, isOfAdministrators: boolean): string | undefined;
  /** The secret of a version, of the first signing key. */
  secretOf(id: Id, version: number): string;
  /** Sends `webhook.test`. Undefined when too many requests are under way to the receiver. */
  sendTest(id: Id): Promise<RowData<WebhookAttempt> | undefined>;
}

/** Is told after a commit, and must not throw. */
export interface WebhookObserver {
  /** An endpoint was made, changed or deleted. */
  onChange(): Promise<void>;
  /** It has a new secret. Resolves when no process signs by the old one alone. */
  onRotated(): Promise<void>;
  /** Its state was changed by somebody, not by deliveries. */
  onSwitched(endpoint: WebhookEndpoint, by: string): void;
}

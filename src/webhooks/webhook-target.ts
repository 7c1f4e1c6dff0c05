import type { Id } from '../domain/id.ts';
import type { EventPosition, EventType } from '../domain/events/event.ts';
import { deriveSecret, type Endpoint } from '../platform/delivery/index.ts';

const fingerprintCharacters = 12;

/** An endpoint, as deliveries need it. */
export interface WebhookTarget extends Endpoint {
  readonly position: EventPosition;
  /** Null for all. */
  readonly eventTypes: readonly EventType[] | null;
  readonly isThin: boolean;
  /** Everything up to this event is sent once more. */
  readonly replayedTo: EventPosition | null;
}

/** The versions of its secrets. */
export interface SecretVersions {
  readonly id: string;
  readonly secretVersion: number;
  readonly previousSecretVersion?: number | null | undefined;
  /** An instant, or milliseconds since 1970. */
  readonly previousSecretExpiresAt?: Date | number | null | undefined;
}

/** An endpoint, as a test needs it. */
export interface TestedEndpoint extends SecretVersions {
  readonly id: Id;
  readonly url: string;
  /** The key that manages it; null for administrators. */
  readonly ownerId?: string | null | undefined;
}

/** Derives the secrets of endpoints, with the first signing key; the second one is good while the key is changed. */
export class WebhookSecrets {
  readonly #signingKeys: readonly Buffer[];

  /** Of the signing keys, in their order: which one a secret was derived from. */
  readonly fingerprints: readonly string[];

  constructor(signingKeys: readonly Buffer[]) {
    this.#signingKeys = signingKeys;
    this.fingerprints = signingKeys.map((key) => deriveSecret(key, 'fingerprint').slice(-fingerprintCharacters));
  }

  /** The one that is given out. */
  secretOf(id: string, version: number): string {
    return deriveSecret(this.#signingKeys[0] as Buffer, purposeOf(id, version));
  }

  /** All that receivers may verify with: of each key, and of the version before while it is good. */
  signingSecrets(endpoint: SecretVersions, now: number): readonly string[] {
    const { id, secretVersion, previousSecretVersion, previousSecretExpiresAt } = endpoint;
    const versions = [secretVersion];
    const isPreviousGood = Number(previousSecretExpiresAt ?? 0) > now;
    if (isPreviousGood && typeof previousSecretVersion === 'number') versions.push(previousSecretVersion);
    return versions.flatMap((version) => this.#signingKeys.map((key) => deriveSecret(key, purposeOf(id, version))));
  }
}

function purposeOf(id: string, version: number): string {
  return `webhook endpoint ${id} version ${version}`;
}

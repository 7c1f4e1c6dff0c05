import type { WebhookEndpoint } from '../domain/webhooks/webhook-endpoint.entity.ts';
import { deriveSecret } from './signature.ts';

const fingerprintCharacters = 12;

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
  signingSecrets(endpoint: WebhookEndpoint, now: number): readonly string[] {
    const { id, secretVersion, previousSecretVersion, previousSecretExpiresAt } = endpoint;
    const versions = [secretVersion];
    const isPreviousGood = (previousSecretExpiresAt?.getTime() ?? 0) > now;
    if (isPreviousGood && typeof previousSecretVersion === 'number') versions.push(previousSecretVersion);
    return versions.flatMap((version) => this.#signingKeys.map((key) => deriveSecret(key, purposeOf(id, version))));
  }
}

function purposeOf(id: string, version: number): string {
  return `webhook endpoint ${id} version ${version}`;
}

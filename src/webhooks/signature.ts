import { createHmac, hkdfSync } from 'node:crypto';

const secretBytes = 32;

/** Before the base64 of a secret, as Standard Webhooks 1.0.0 has it. */
const prefix = 'whsec_';

/** Derives a secret (HKDF-SHA-256, RFC 5869) for an endpoint and a version: none has to be in a database. */
export function deriveSecret(signingKey: Buffer, purpose: string): string {
  return prefix + Buffer.from(hkdfSync('sha256', signingKey, '', purpose, secretBytes)).toString('base64');
}

/** A request's headers of Standard Webhooks 1.0.0: its id and time, and a signature for each secret. */
export function signatureHeaders(
  id: string,
  timestampSeconds: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signed = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

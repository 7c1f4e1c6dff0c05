import { hash, randomInt, timingSafeEqual } from 'node:crypto';

import { keyLength, keyMarker, parseKey, shownPrefix } from './api-key.ts';

const secrets = new Map<string, Finder>();

/**
 * From now on `redactSecrets` cuts this text, too: the key of the environment has no checksum by which it is
 * recognised.
 */
export function alsoRedact(secret: string): void {
  // As it is in a header, and in a string of a line of JSON.
  for (const text of [secret, JSON.stringify(secret).slice(1, -1)]) secrets.set(text, new Finder(text));
}

/**
 * The text without the keys in it.
 *
 * For what clients choose and we write down. Cut a long text afterwards: the rest of a key would not be recognised.
 */
export function redactSecrets(text: string): string {
  let redacted = redactKeys(text);
  for (const finder of secrets.values()) redacted = finder.cut(redacted);
  return redacted;
}

/** The text with each key in it, recognised by its checksum, cut to the part that may be shown. */
function redactKeys(text: string): string {
  if (!text.includes(keyMarker)) return text;
  const [before = '', ...parts] = text.split(keyMarker);
  const redacted = parts.map((part) => {
    const key = (keyMarker + part).slice(0, keyLength);
    return parseKey(key) === undefined
      ? keyMarker + part
      : `${shownPrefix(key)}…${part.slice(keyLength - keyMarker.length)}`;
  });
  return before + redacted.join('');
}

/** Few texts have so many characters of a secret in a row; at least 24 others stay unknown. */
const partLength = 8;

/**
 * Keeps `ADMIN_API_KEY` out of the log (SECURITY.md), whatever a client sends.
 *
 * Finds a secret by a part of it, from a random place, and then by its SHA-256: how long that takes shows no more than
 * whether somebody has guessed this part.
 */
class Finder {
  readonly #length: number;
  readonly #partAt: number;
  readonly #part: string;
  readonly #hash: Buffer;

  constructor(secret: string) {
    this.#length = secret.length;
    this.#partAt = randomInt(Math.max(1, secret.length - partLength + 1));
    this.#part = secret.slice(this.#partAt, this.#partAt + partLength);
    this.#hash = hash('sha256', secret, 'buffer');
  }

  cut(text: string): string {
    let redacted = '';
    let from = 0;
    for (let at = text.indexOf(this.#part); at !== -1; at = text.indexOf(this.#part, at + 1)) {
      const start = at - this.#partAt;
      const end = start + this.#length;
      if (start < from || !this.#isSecret(text.slice(start, end))) continue;
      redacted += `${text.slice(from, start)}…`;
      from = end;
    }
    return from === 0 ? text : redacted + text.slice(from);
  }

  #isSecret(text: string): boolean {
    return timingSafeEqual(hash('sha256', text, 'buffer'), this.#hash);
  }
}

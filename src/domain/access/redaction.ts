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
 * Finds a secret by a rolling hash with a random base, and then by its SHA-256: how long that takes doesn't depend on
 * how many of its characters were guessed.
 *
 * A text without a part of it, from a random place, isn't searched: that saves a tenth of the instructions of a small
 * request, and how long it takes shows no more than whether somebody has guessed this part.
 */
class Finder {
  readonly #length: number;
  readonly #part: string;
  readonly #base = randomInt(1, 2 ** 30) * 2 + 1;
  /** What the first character of a window counts. */
  readonly #weight: number;
  readonly #sum: number;
  readonly #hash: Buffer;

  constructor(secret: string) {
    this.#length = secret.length;
    const from = randomInt(Math.max(1, secret.length - partLength + 1));
    this.#part = secret.slice(from, from + partLength);
    let weight = 1;
    for (let index = 1; index < secret.length; index += 1) weight = Math.imul(weight, this.#base);
    this.#weight = weight;
    this.#sum = this.#sumOf(secret);
    this.#hash = hash('sha256', secret, 'buffer');
  }

  cut(text: string): string {
    if (!text.includes(this.#part)) return text;
    let at = this.#indexIn(text);
    if (at === -1) return text;
    let [redacted, rest] = ['', text];
    for (; at !== -1; at = this.#indexIn(rest)) {
      redacted += `${rest.slice(0, at)}…`;
      rest = rest.slice(at + this.#length);
    }
    return redacted + rest;
  }

  #indexIn(text: string): number {
    const length = this.#length;
    if (text.length < length) return -1;
    let sum = this.#sumOf(text);
    for (let end = length; ; end += 1) {
      if (sum === this.#sum && this.#isSecret(text.slice(end - length, end))) return end - length;
      if (end === text.length) return -1;
      const kept = sum - Math.imul(text.charCodeAt(end - length), this.#weight);
      sum = (Math.imul(kept, this.#base) + text.charCodeAt(end)) | 0;
    }
  }

  /** Of the first characters. */
  #sumOf(text: string): number {
    let sum = 0;
    for (let index = 0; index < this.#length; index += 1)
      sum = (Math.imul(sum, this.#base) + text.charCodeAt(index)) | 0;
    return sum;
  }

  #isSecret(text: string): boolean {
    return timingSafeEqual(hash('sha256', text, 'buffer'), this.#hash);
  }
}

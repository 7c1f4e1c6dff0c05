import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** People and secret scanners recognise a key by it. Without punctuation: a double click selects all of it. */
export const keyMarker = 'petstore_';
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 bits, and 32, in base 62. */
const bodyLength = 43;
const checksumLength = 6;
export const keyLength = keyMarker.length + bodyLength + checksumLength;
const keyPattern = new RegExp(`^${keyMarker}[0-9A-Za-z]{${bodyLength + checksumLength}}$`);
/** Enough for the owner to identify the key; more than 230 bits stay secret. */
const shownLength = keyMarker.length + 4;

/** The SHA-256 of a key in hexadecimal: all that is stored of it. */
export type KeyHash = string;

/** A new key: prefix, 256 random bits and a checksum of both, like GitHub's tokens. */
export function generateKey(): string {
  const body = keyMarker + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), bodyLength);
  return body + checksumOf(body);
}

/** The hash of a well-formed key; undefined for any other text, so that it costs no lookup. */
export function parseKey(text: string): KeyHash | undefined {
  // The length is compared first, so that a long text costs no more than a short one.
  if (text.length !== keyLength || !keyPattern.test(text)) return undefined;
  const body = text.slice(0, -checksumLength);
  return text.endsWith(checksumOf(body)) ? hashKey(text) : undefined;
}

/** A salt or a slow hash would add nothing: 2^256 keys can't be tried. */
export function hashKey(key: string): KeyHash {
  return hash('sha256', key, 'hex');
}

export function shownPrefix(key: string): string {
  return key.slice(0, shownLength);
}

/** Uses numbers: it runs for every request, and BigInt would cost more than the SHA-256. */
function checksumOf(body: string): string {
  let text = '';
  for (let rest = crc32(body); text.length < checksumLength; rest = Math.trunc(rest / 62))
    text = digits.charAt(rest % 62) + text;
  return text;
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, '0');
}

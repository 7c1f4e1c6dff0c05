import type { IncomingMessage } from 'node:http';

import { validationFailed } from '../domain/errors.ts';
import { isRepeated } from './client.ts';

export const maxKeyLength = 255;

/** The structured-field string of RFC 8941, section 3.3.3. */
const quotedString = /^"(?<characters>(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** `"abc"` (draft-ietf-httpapi-idempotency-key-header-07) and `abc` are one key. Throws VALIDATION_FAILED. */
export function readIdempotencyKey({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string | undefined {
  const { 'idempotency-key': header } = headers;
  if (header === undefined) return undefined;
  if (isRepeated(rawHeaders, 'idempotency-key')) throw refused('must be sent once, not several times.');
  const value = String(header);
  const key = value.startsWith('"')
    ? quotedString.exec(value)?.groups?.['characters']?.replaceAll(/\\(["\\])/g, '$1')
    : value;
  if (key === undefined) throw refused('begins with a quote, so it must be a string such as "abc".');
  if (key.length < 1 || key.length > maxKeyLength) {
    throw refused(`must have 1 to ${maxKeyLength} characters, not ${key.length}.`);
  }
  return key;
}

function refused(message: string): Error {
  return validationFailed([{ field: 'Idempotency-Key', message }]);
}

import type { IncomingMessage } from 'node:http';

import type { KeyDirectory } from '../keys/key-directory.ts';

/** The key of a request, the reason why it is invalid, or undefined without one. */
export type SentKey = { readonly key: string } | { readonly fault: string } | undefined;

/** The id of the key that a request has, if it is known without asking the database; it may have expired. */
export function knownClientOf(request: IncomingMessage, keys: Pick<KeyDirectory, 'knownIdOf'>): string | undefined {
  const sent = sentKey(request);
  return sent !== undefined && 'key' in sent ? keys.knownIdOf(sent.key, request.socket) : undefined;
}

const bearer = /^bearer +(\S+)$/i;

/** A scheme as people write them (RFC 9110, section 11.1), short enough to be repeated. */
const scheme = /^[A-Za-z0-9._+-]{1,20}(?= |$)/;

const howToSend = 'Send Authorization: Bearer KEY, or X-API-Key: KEY.';

/**
 * Reads `Authorization: Bearer KEY` (RFC 6750) or `X-API-Key: KEY`.
 *
 * Both at once must agree, and each may be there once: we never guess which of two keys is meant.
 */
export function sentKey({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): SentKey {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (apiKey === '') return { fault: `The header X-API-Key is empty. ${howToSend}` };
  if (authorization === undefined) return apiKey === undefined ? undefined : { key: String(apiKey) };
  // Node keeps the first of several.
  if (isRepeated(rawHeaders, 'authorization')) {
    return { fault: `There are several Authorization headers, but there must be one. ${howToSend}` };
  }
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) return { fault: `${faultOf(authorization)} ${howToSend}` };
  if (apiKey === undefined || apiKey === key) return { key };
  return { fault: 'Authorization and X-API-Key have two different keys: send one of them, or the same key in both.' };
}

function faultOf(authorization: string): string {
  const found = scheme.exec(authorization)?.[0];
  if (found === undefined) return 'The header Authorization has no scheme.';
  if (found.toLowerCase() !== 'bearer') {
    return `The header Authorization has the scheme ${JSON.stringify(found)}, which is not supported.`;
  }
  const isEmpty = authorization.trim().length === found.length;
  return isEmpty ? 'The header Authorization says Bearer, but has no key.' : 'A key has no spaces in it.';
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const text = rawHeaders[index];
    if (text?.length === name.length && text.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

import type { IncomingHttpHeaders } from 'node:http';

/** A key as it was sent; null for something sent that can't be one; undefined for nothing at all. */
export type SentKey = string | null | undefined;

const bearer = /^bearer +(\S+)$/i;

/** Reads `Authorization: Bearer KEY` (RFC 6750) or `X-API-Key: KEY`. Both at once must agree: which of two keys is meant is not for us to guess. */
export function sentKey(headers: IncomingHttpHeaders): SentKey {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization === undefined) return Array.isArray(apiKey) ? null : apiKey;
  const key = bearer.exec(authorization)?.[1];
  if (key === undefined) return null;
  return apiKey === undefined || apiKey === key ? key : null;
}

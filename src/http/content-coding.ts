import type { IncomingHttpHeaders } from 'node:http';

import { HttpError } from './error-table.ts';

/** The error for a compressed body (415): a few bytes of one may become as many as its sender likes. */
export function findCompressed({ 'content-encoding': coding }: IncomingHttpHeaders): HttpError | undefined {
  if (coding === undefined || coding.toLowerCase() === 'identity') return undefined;
  const message = 'The body must not be compressed: send it without Content-Encoding.';
  // RFC 9110, section 15.5.16.
  return new HttpError('UNSUPPORTED_MEDIA_TYPE', message, { headers: { 'accept-encoding': 'identity' } });
}

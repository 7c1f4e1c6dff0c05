import type { IncomingHttpHeaders } from 'node:http';

import { HttpError } from '../http/error-table.ts';

/** What is answered to whatever has a body. */
export const jsonMediaType = 'application/json; charset=utf-8';

/** How closely a media range of `Accept` names JSON: not at all, as anything, by its kind, or by its name. */
const closeness = new Map([
  ['*/*', 1],
  ['application/*', 2],
  ['application/json', 3],
]);

/** Why a client that accepts no JSON can't be served: 406. The closest range decides (RFC 9110, section 12.5.1). */
export function findUnacceptable({ accept = '' }: IncomingHttpHeaders): HttpError | undefined {
  if (accept === '' || accept === '*/*' || accept === 'application/json') return undefined;
  let [closest, isWanted] = [0, false];
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const close = closeness.get(name) ?? 0;
    if (close <= closest) continue;
    closest = close;
    isWanted = !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
  }
  return isWanted ? undefined : new HttpError('NOT_ACCEPTABLE', 'Only application/json can be answered here.');
}

/** Why a body can't be read: 415, also for one that is compressed. A body that isn't there has no type. */
export function findUnsupported(headers: IncomingHttpHeaders, mediaTypes: readonly string[]): HttpError | undefined {
  const { 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) return undefined;
  const mediaType = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaTypes.includes(mediaType) && encoding.toLowerCase() === 'identity') return undefined;
  return new HttpError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The body must be ${mediaTypes.join(' or ')}, not compressed, and Content-Type must say so.`,
  );
}

import type { IncomingHttpHeaders } from 'node:http';

import { preferredType } from '../platform/http/index.ts';
import { HttpError } from '../http/error-table.ts';
import { asksForProblems } from '../http/failure-response.ts';

/** The media type of every response with a body. */
export const jsonMediaType = 'application/json; charset=utf-8';

/** The error for a client that doesn't accept JSON (406). */
export function findUnacceptable({ accept }: IncomingHttpHeaders): HttpError | undefined {
  const isAllowed = preferredType(accept, ['application/json']) !== undefined;
  if (isAllowed || asksForProblems(accept)) return undefined;
  return new HttpError(
    'NOT_ACCEPTABLE',
    'The Accept header does not allow application/json, the only media type of responses here.',
  );
}

/** The error for a body of an unsupported media type, or a compressed one (415). A request without a body passes. */
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

import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { preferredType } from '../platform/http/index.ts';
import { findCompressed } from '../http/content-coding.ts';
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
export function findUnsupported(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  mediaTypes: readonly string[],
): HttpError | undefined {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) return undefined;
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaTypes.includes(mediaType)) return findCompressed(headers);
  return new HttpError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The body must be ${mediaTypes.join(' or ')}, and Content-Type must say so.`,
    method === 'PATCH' ? { headers: { 'accept-patch': mediaTypes.join(', ') } } : {},
  );
}

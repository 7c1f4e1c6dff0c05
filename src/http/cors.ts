import type { IncomingMessage } from 'node:http';

import { complexityHeaderName, costHeaderName, quotaHeaderNames } from './quota-headers.ts';

const exposedHeaders = [
  ...quotaHeaderNames,
  costHeaderName,
  complexityHeaderName,
  'Retry-After',
  'ETag',
  'Link',
  'Location',
  'Deprecation',
  'Sunset',
  'X-Request-Id',
  'Idempotent-Replayed',
  'WWW-Authenticate',
].join(', ');

const allowedHeaders = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Accept',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'X-Request-Id',
  'Apollo-Require-Preflight',
  // Headers that tracing, Apollo Client and other browser libraries send by themselves.
  'traceparent',
  'tracestate',
  'baggage',
  'apollographql-client-name',
  'apollographql-client-version',
  'X-Requested-With',
  'Cache-Control',
  'Pragma',
].join(', ');

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
  'access-control-allow-headers': allowedHeaders,
  'access-control-max-age': '600',
};

/** What CORS needs to know of a request. */
type CrossOriginRequest = Pick<IncomingMessage, 'method'> & { readonly origin: string | undefined };

/** The headers of a response by which a page of another origin may read it. */
export type CorsHeaders = (request: CrossOriginRequest) => Readonly<Record<string, string>>;

/**
 * Lets pages of these origins (`*` is any) use the API in a browser, and read what the headers of every response say,
 * refusals of HTTP itself included. Preflights are handled with all other OPTIONS requests.
 */
export function allowOrigins(origins: readonly string[]): CorsHeaders {
  const isAny = origins.includes('*');
  return ({ method, origin }) => {
    const allowed = isAny ? '*' : origins.find((each) => each === origin);
    if (allowed === undefined) return {};
    return {
      'access-control-allow-origin': allowed,
      'access-control-expose-headers': exposedHeaders,
      ...(method === 'OPTIONS' && preflightHeaders),
    };
  };
}

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

/** For a preflight that asks for none. */
const ownHeaders = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Accept',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'X-Request-Id',
  'Apollo-Require-Preflight',
].join(', ');

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
  'access-control-max-age': '600',
};

type CrossOriginRequest = Pick<IncomingMessage, 'method'> & {
  readonly origin: string | undefined;
  /** `Access-Control-Request-Headers` of a preflight. */
  readonly requestedHeaders?: string | undefined;
};

/** The headers of a response by which a page of another origin may read it. */
export type CorsHeaders = (request: CrossOriginRequest) => Readonly<Record<string, string>>;

/** Preflights may ask for any headers: tracing libraries add their own. (`*` would not include `Authorization`.) */
export function allowOrigins(origins: readonly string[]): CorsHeaders {
  const isAny = origins.includes('*');
  return ({ method, origin, requestedHeaders = ownHeaders }) => {
    const allowed = isAny ? '*' : origins.find((each) => each === origin);
    if (allowed === undefined) return {};
    return {
      'access-control-allow-origin': allowed,
      'access-control-expose-headers': exposedHeaders,
      ...(method === 'OPTIONS' && {
        ...preflightHeaders,
        'access-control-allow-headers': namesIn(requestedHeaders).join(', '),
      }),
    };
  };
}

/** A token of RFC 9110, section 5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => token.test(name));
}

import { fastifyCors } from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

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
];

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
];

const preflightSeconds = 600;

/**
 * Lets pages of these origins use the API in a browser, and read what its headers say; preflights are handled with all
 * other OPTIONS requests.
 */
export async function allowOrigins(api: FastifyInstance, origins: readonly string[]): Promise<void> {
  await api.register(fastifyCors, {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders,
    allowedHeaders,
    maxAge: preflightSeconds,
    strictPreflight: false,
    preflightContinue: true,
  });
}

import { performance } from 'node:perf_hooks';

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoggerOptions } from 'pino';

import type { AnsweredRequest } from './metrics.ts';
import { pathOf } from './route-table.ts';

type OnAnswered = (answered: AnsweredRequest) => void;

const secretHeaders = ['authorization', 'x-api-key', 'cookie', 'set-cookie'];

/** No line has a header or a query in it; should one slip in with an object, the secret ones are blotted out. */
export function loggerOptions(level: string): LoggerOptions {
  const places = ['headers', 'req.headers', 'request.headers', 'err.headers', 'err.request.headers'];
  return {
    level,
    redact: places.flatMap((place) => secretHeaders.map((name) => `${place}["${name}"]`)),
    serializers: { req: ({ method, url }: FastifyRequest) => ({ method, path: pathOf(url) }) },
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the operation is called in the metrics; the method and the route when left out. */
    operationId?: string;
  }
  interface FastifyRequest {
    /** The same, where only the request can tell. */
    operation: string | undefined;
  }
}

/** When the response has left, or the client has: writes one line, and counts it. Public pages that work are only told at `debug`. */
export function watchAnswer(request: FastifyRequest, reply: FastifyReply, onAnswered?: OnAnswered): void {
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const { statusCode: status, writableFinished } = reply.raw;
    const { url: route, config } = request.routeOptions;
    const millis = performance.now() - startedAt;
    const level = config?.isPublic === true && status < 400 ? 'debug' : 'info';
    const line = {
      method: request.method,
      route,
      path: pathOf(request.url).slice(0, 200),
      key: request.principal?.id,
      status,
      code: reply.failureCode,
      ms: Math.round(millis * 10) / 10,
      ...(config?.deprecation && { deprecated: true }),
    };
    request.log[level](line, writableFinished ? 'answered' : 'client gone before the answer');
    onAnswered?.({ operation: operationOf(request), status, seconds: millis / 1000 });
  });
}

function operationOf({ is404, method, routeOptions, operation }: FastifyRequest): string {
  if (method === 'OPTIONS') return method;
  if (is404 || routeOptions.url === undefined) return 'none';
  return operation ?? routeOptions.config.operationId ?? `${method} ${routeOptions.url}`;
}

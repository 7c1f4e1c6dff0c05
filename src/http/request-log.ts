import { performance } from 'node:perf_hooks';

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoggerOptions } from 'pino';

import { principalIdOf } from './principal.ts';
import { pathOf } from './route-table.ts';

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

/** Writes one line when the response has left, or the client has. Public pages that work are only told at `debug`. */
export function logWhenAnswered(request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const { statusCode: status, writableFinished } = reply.raw;
    const { url: route, config } = request.routeOptions;
    const level = config?.isPublic === true && status < 400 ? 'debug' : 'info';
    const line = {
      method: request.method,
      route,
      path: pathOf(request.url).slice(0, 200),
      status,
      code: reply.failureCode,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      ...(config?.deprecation && { deprecated: true, key: principalIdOf(request) }),
    };
    request.log[level](line, writableFinished ? 'answered' : 'client gone before the answer');
  });
}

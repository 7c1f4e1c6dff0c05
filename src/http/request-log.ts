import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';

import type { FastifyBaseLogger, FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { LoggerOptions } from 'pino';

import type { AnsweredRequest } from './metrics.ts';
import { pathOf, type KnownRoute } from './route-table.ts';

export type OnAnswered = (answered: AnsweredRequest) => void;

const secretHeaders = ['authorization', 'x-api-key', 'cookie', 'set-cookie'];

/** No line has a header or a query; should one be logged with an object, secret headers are redacted. */
export function loggerOptions(level: string): LoggerOptions {
  const places = ['headers', 'req.headers', 'request.headers', 'err.headers', 'err.request.headers'];
  return {
    level,
    redact: places.flatMap((place) => secretHeaders.map((name) => `${place}["${name}"]`)),
    serializers: { req: ({ method, url }: FastifyRequest) => ({ method, path: pathOf(url) }) },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The same, where it depends on the request. */
    operation: string | undefined;
    /** The operation of a GraphQL request, as far as it is known. */
    graphql: LoggedOperation | undefined;
  }
}

/** Of a GraphQL request, for its line in the log. */
interface LoggedOperation {
  /** As the client calls it, shortened. */
  readonly name?: string | undefined;
  /** The root fields, by the schema's names. */
  readonly fields?: readonly string[];
  readonly cost?: number;
  /** Of its errors, each once. */
  readonly codes: readonly string[];
}

/** The codes of failures whose response bypassed Fastify. */
const codesPastFastify = new WeakMap<ServerResponse, string>();

/** Adds the code of a failure to the line of its request when the response bypasses its reply. */
export function noteFailure(response: ServerResponse, code: string): void {
  codesPastFastify.set(response, code);
}

/**
 * Writes one line when the response has been sent or the client is gone, and counts it. Successful public pages are logged at `debug` only.
 *
 * `known` is the route of a request that the router couldn't find it for.
 */
export function watchAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  onAnswered?: OnAnswered,
  known?: KnownRoute,
): void {
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const { statusCode: status, writableFinished } = reply.raw;
    const { url: route, config } = known ?? request.routeOptions;
    const millis = performance.now() - startedAt;
    const level = config?.isPublic === true && status < 400 ? 'debug' : 'info';
    const line = {
      method: request.method,
      route,
      path: pathOf(request.url).slice(0, 200),
      key: request.principal?.id,
      status,
      code: reply.failureCode ?? (status < 400 ? undefined : codesPastFastify.get(reply.raw)),
      ms: rounded(millis),
      ...(request.graphql && { graphql: request.graphql }),
      ...(config?.deprecation && { deprecated: true }),
    };
    request.log[level](line, outcomeOf(writableFinished));
    onAnswered?.({
      operation: request.operation ?? operationOf(request.method, route, config),
      status,
      seconds: millis / 1000,
    });
  });
}

/** What is known of a request that Node's parser has rejected. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly route: KnownRoute | undefined;
  readonly status: number;
  readonly code: string;
  readonly millis: number;
  readonly hasLeft: boolean;
}

/** Logs and counts a request that Node's parser has rejected. */
export function tellRefused(log: FastifyBaseLogger, refused: RefusedRequest, onAnswered?: OnAnswered): void {
  const { requestId, method, path, route, status, code, millis, hasLeft } = refused;
  const line = {
    requestId,
    method,
    route: route?.url,
    path: path?.slice(0, 200),
    status,
    code,
    ms: rounded(millis),
    ...(route?.config.deprecation && { deprecated: true }),
  };
  log.info(line, outcomeOf(hasLeft));
  onAnswered?.({ operation: operationOf(method, route?.url, route?.config), status, seconds: millis / 1000 });
}

function operationOf(method: string | undefined, url: string | undefined, config?: FastifyContextConfig): string {
  if (method === 'OPTIONS') return method;
  return url === undefined ? 'none' : (config?.operationId ?? `${method} ${url}`);
}

function outcomeOf(hasLeft: boolean): string {
  return hasLeft ? 'answered' : 'client gone before the answer';
}

function rounded(millis: number): number {
  return Math.round(millis * 10) / 10;
}

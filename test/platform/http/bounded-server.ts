import type { IncomingMessage } from 'node:http';

import { fastify, type FastifyInstance, LogController } from 'fastify';

import { Callers } from '../../../src/platform/callers/index.ts';
import {
  beginWork,
  decorateServer,
  createNodeServer,
  endWork,
  type HttpLimits,
  openRequest,
  type Refusal,
} from '../../../src/platform/http/index.ts';
import { atEnd } from '../../support/at-end.ts';
import { portOf } from './raw-requests.ts';

export interface BoundedServer {
  readonly server: FastifyInstance;
  readonly port: number;
  /** The bounds by which something was refused or cut off so far. */
  readonly refusals: string[];
  /** The targets of the requests that have begun so far. */
  readonly begun: string[];
  /** The lines of the log so far. */
  readonly log: { readonly level: number }[];
}

interface Options {
  readonly limits?: Partial<HttpLimits> & { readonly tickMillis?: number };
  /** What each request waits for before its client is known. */
  readonly admit?: (key: string) => Promise<void>;
  /** Routes of clients with keys. */
  readonly routes?: (api: FastifyInstance) => void;
  /** Routes whose clients aren't known. */
  readonly pages?: (server: FastifyInstance) => void;
}

const statuses: Readonly<Record<string, number>> = { PAYLOAD_TOO_LARGE: 413, RATE_LIMITED: 429, UNAVAILABLE: 503 };

/**
 * A server with what bounds it and a few routes, and nothing of the petstore. The key of a request is what its header
 * `X-Principal` says. A busy machine makes no overload, unless the limits say so.
 */
export async function startBounded(options: Options = {}): Promise<BoundedServer> {
  const { limits = {}, admit, routes, pages } = options;
  const refusals: string[] = [];
  const begun: string[] = [];
  const log: { readonly level: number }[] = [];
  const callers = new Callers(undefined, limits.tickMillis ?? Infinity);
  const node = createNodeServer({
    callers,
    callerOf: (request) => callers.for(keyOf(request)),
    addressOf: (socket) => callers.for(`address of ${socket.remoteAddress}`),
    isProbe: ({ url }) => url === '/healthz',
    limits: { maxDelayMillis: Infinity, ...limits },
    onRefusal: (refused) => void refusals.push(refused),
    onConnect: (_request, socket) => socket.destroy(),
  });
  const server = fastify({
    logger: { stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    serverFactory: (handle) => {
      node.onRequest(handle);
      return node.server;
    },
  });
  decorateServer(server, node);
  server.setErrorHandler((error: Refusal, _request, reply) => {
    if (error.retryAfterSeconds !== undefined) void reply.header('retry-after', String(error.retryAfterSeconds));
    // Fastify would close the connection after a refused body.
    void reply.removeHeader('connection');
    void reply.code(statuses[error.code] ?? 500).send({ code: error.code, message: error.message });
  });
  server.addHook('onRequest', async ({ url }) => void begun.push(url));
  server.get('/healthz', async () => 'ok');
  pages?.(server);
  await server.register(async (api) => {
    api.addHook('onRequest', async (request, reply) => {
      const refusal = node.overload.findRefusal(request.raw);
      if (refusal !== undefined) throw refusal;
      await admit?.(keyOf(request.raw));
      openRequest(request, reply, keyOf(request.raw));
    });
    api.addHook('preValidation', beginWork);
    api.addHook('onSend', (request, reply, payload, done) => {
      endWork(request, reply, payload);
      done();
    });
    api.addContentTypeParser('*', (request, payload, done) => {
      request.server.bodies.read(request, payload, (error, body) => done(error, body.toString()));
    });
    api.setNotFoundHandler((_request, reply) => reply.code(404).send());
    api.get('/things', async () => ['a thing']);
    api.post('/things', async ({ body }, reply) => reply.code(201).send({ body }));
    routes?.(api);
  });
  await server.ready();
  atEnd(() => server.close());
  return { server, port: await portOf(server), refusals, begun, log };
}

function keyOf({ headers }: IncomingMessage): string {
  return String(headers['x-principal']);
}

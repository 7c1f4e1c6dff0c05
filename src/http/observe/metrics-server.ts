import type { Socket } from 'node:net';

import { fastify, type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';

import type { Caller, Callers } from '../../platform/callers/index.ts';
import { createNodeServer, MetricsText } from '../../platform/http/index.ts';
import { addressSubject } from '../client.ts';
import type { OnRefusal } from './bounds.ts';

const maxScrapers = 100;
const requestTimeoutMillis = 10_000;

/** The metrics of a process, or of several. */
export interface MetricsSource {
  text(): Promise<string>;
}

/** `/metrics` as a public page of the server. */
export function registerMetrics(server: FastifyInstance, source: MetricsSource): void {
  const text = new MetricsText(() => source.text());
  server.get('/metrics', { config: { isPublic: true, isServedUnderOverload: true } }, async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .type(Registry.PROMETHEUS_CONTENT_TYPE)
      .send(await text.get()),
  );
}

/** Serves the metrics at a separate address, away from the clients of the API, in ticks that it shares with them. */
export function createMetricsServer(source: MetricsSource, callers: Callers, onRefusal: OnRefusal): FastifyInstance {
  const addressOf = ({ remoteAddress }: Socket): Caller => callers.for(addressSubject(remoteAddress).id);
  const node = createNodeServer({
    callers,
    callerOf: ({ socket }) => addressOf(socket),
    addressOf,
    isProbe: () => false,
    onRefusal,
    onConnect: (_request, socket) => socket.destroy(),
    // A handful of scrapers; what else reaches this port can't take more than this.
    limits: {
      maxConnections: maxScrapers,
      headersTimeoutMillis: requestTimeoutMillis,
      requestTimeoutMillis,
    },
  });
  const server = fastify({
    bodyLimit: 1024,
    clientErrorHandler: (_error, socket) => socket.destroy(),
    serverFactory: (handle) => {
      node.onRequest(handle);
      return node.server;
    },
  });
  server.addHook('onClose', async () => node.overload.stop());
  registerMetrics(server, source);
  return server;
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { runAs } from '../domain/access/current-subject.ts';
import { requireScope } from '../domain/access/principal.ts';
import { allowOrigins } from './cors.ts';
import { apiVary } from './failure-response.ts';
import type { Gate } from './gate.ts';
import { pathOf } from './route-table.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly gate: Pick<Gate, 'admit' | 'headersFor'>;
  }
}

/** Adds the routes of one protocol to the API. */
export type ApiRoutes = (api: FastifyInstance) => Promise<void>;

export interface ApiOptions {
  readonly gate: Pick<Gate, 'admit' | 'headersFor'>;
  /** Whose pages may read the API in a browser. */
  readonly corsOrigins: readonly string[];
}

/**
 * Opens the API: the scope of every path that isn't a public page, unknown ones included.
 *
 * What a request passes, in this order, before its body is read:
 *
 * 1. what HTTP itself refuses (`server.ts`, for the public pages too)
 * 2. OPTIONS, and what is missing among the public pages: neither asks for a key
 * 3. the gate: who is it, may it, and what is left
 * 4. 404 for an unknown path, 405 for a method that it doesn't have
 * 5. 403 for a key without the scope of the route
 */
export async function registerApi(
  server: FastifyInstance,
  { gate, corsOrigins }: ApiOptions,
  routes: readonly ApiRoutes[],
): Promise<void> {
  server.decorate('gate', gate);
  server.decorateRequest('principal');
  server.decorateRequest('meter');
  await server.register(async (api) => {
    if (corsOrigins.length > 0) await allowOrigins(api, corsOrigins);
    api.addHook('onRequest', enter);
    // Not earlier: reading the body loses what runs with the request.
    api.addHook('preValidation', (request, _reply, done) => runAs(request.principal.subject.id, done));
    api.addHook('onSend', setDefaultHeaders);
    // Brings requests without a route into this scope; also what `reply.callNotFound()` answers.
    api.setNotFoundHandler(refuseUnmatched);
    for (const register of routes) await register(api);
  });
}

async function enter(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (request.method === 'OPTIONS') return answerOptions(request, reply);
  const { is404, server, routeOptions } = request;
  if (is404 && server.routeTable.isPublic(pathOf(request.url))) refuseUnmatched(request);
  await server.gate.admit(request, reply);
  server.connections.requireUnreadBelowLimits(request.socket, request.principal.id);
  if (is404) refuseUnmatched(request);
  const { scope } = routeOptions.config;
  if (scope !== undefined) requireScope(request.principal, scope);
  server.incompleteBodies.watch(request);
  return undefined;
}

async function answerOptions(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { routeTable } = request.server;
  const path = pathOf(request.url);
  const methods = routeTable.methodsOf(path);
  if (methods.length === 0) throw routeTable.unmatched(request.method, path);
  return reply.code(204).header('allow', methods.join(', ')).send();
}

function refuseUnmatched(request: FastifyRequest): never {
  throw request.server.routeTable.unmatched(request.method, pathOf(request.url));
}

/**
 * Caches other than the client's own may not store a response, nor may any cache store what isn't meant for it; failures have their header already.
 * Responses that never reached the gate get the quota headers here.
 */
async function setDefaultHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isPublic = request.is404 && request.server.routeTable.isPublic(pathOf(request.url));
  const isTransient = reply.statusCode === 201 || request.routeOptions.config?.isNeverStored === true;
  if (!reply.hasHeader('cache-control'))
    void reply.header('cache-control', isTransient ? 'no-store' : 'private, no-cache');
  if (isPublic) return;
  void reply.header('vary', apiVary);
  if (!reply.hasHeader('x-ratelimit-limit'))
    void reply.headers(await request.server.gate.headersFor(request.ip, request.principal));
}

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

import { requireScopes } from '../domain/access/scope.ts';
import type { Authentication } from './authentication.ts';
import { beginWork, continueAfter, detachResponse, endWork, openRequest } from '../platform/http/index.ts';
import { apiVary } from './failure-response.ts';
import { pathOf } from './route-table.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly authentication: Pick<Authentication, 'admit' | 'headersFor'>;
  }
}

export type ApiRoutes = (api: FastifyInstance) => Promise<void>;

/**
 * Registers the API: the Fastify scope of every path that isn't a public page, unknown ones included.
 *
 * The checks of a request, in this order, before its body is read:
 *
 * 1. what HTTP itself refuses (`server.ts`, for the public pages too)
 * 2. OPTIONS, and unknown paths below the public pages: neither needs a key
 * 3. the key and its quota (`authentication.ts`)
 * 4. 404 for an unknown path, 405 for a method that it doesn't have
 * 5. 403 for a key without the scopes of the route
 */
export async function registerApi(
  server: FastifyInstance,
  authentication: FastifyInstance['authentication'],
  routes: readonly ApiRoutes[],
): Promise<void> {
  server.decorate('authentication', authentication);
  server.decorateRequest('principal');
  server.decorateRequest('meter');
  server.decorateRequest('charge', undefined);
  await server.register(async (api) => {
    api.addHook('onRoute', assertScopes);
    api.addHook('onRequest', checkRequest);
    api.addHook('preValidation', beginWork);
    api.addHook('onSend', end);
    // Brings requests without a route into this scope; `reply.callNotFound()` calls it too.
    api.setNotFoundHandler(refuseUnmatched);
    for (const register of routes) await register(api);
  });
}

function assertScopes({ url, config }: RouteOptions): void {
  if (config?.scopes === undefined) throw new TypeError(`The route ${url} doesn't say which scopes it needs.`);
}

/**
 * Not async: a Fastify reply is a thenable that is fulfilled when the client disconnects, so a hook that returned one
 * would let the request go on while its response waits in `onSend`.
 */
function checkRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  if (request.method === 'OPTIONS') return respondToOptions(request, reply);
  if (isUnknownPage(request)) return refuseUnmatched(request);
  return continueAfter(admit(request, reply), reply, (error) => done(error ?? undefined));
}

async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await request.server.authentication.admit(request, reply);
  openRequest(request, reply, request.principal.id);
  const { url, config } = request.route;
  if (url === undefined) refuseUnmatched(request);
  requireScopes(request.principal, config.scopes ?? []);
}

function respondToOptions(request: FastifyRequest, reply: FastifyReply): void {
  const { routeTable } = request.server;
  const path = pathOf(request.url);
  const methods = routeTable.methodsOf(path);
  if (methods.length === 0) throw routeTable.unmatched(request.method, path);
  void reply.code(204).header('allow', methods.join(', ')).send();
}

function refuseUnmatched(request: FastifyRequest): never {
  throw request.server.routeTable.unmatched(request.method, pathOf(request.url));
}

/** Begins a response that goes on as a stream: its head is sent, and what follows is written to what is returned. */
export function beginStream(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): ServerResponse {
  request.server.overload.end(request);
  setCacheHeaders(request, reply);
  void reply.headers(headers);
  return detachResponse(request, reply);
}

/** There is a response. */
function end(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null) => void,
): void {
  endWork(request, reply, payload);
  setCacheHeaders(request, reply);
  const { server, ip, raw } = request;
  // A request that HTTP itself refuses has the figures of the address, as what is refused before the key is checked.
  const isBroken = server.bodies.isBroken(raw);
  if (isUnknownPage(request) || (!isBroken && reply.hasHeader('x-ratelimit-limit'))) return done(null);
  const principal = isBroken ? undefined : request.principal;
  const adding = server.authentication.headersFor(ip, principal).then((headers) => {
    void reply.headers(headers);
  });
  return continueAfter(adding, reply, (error) => {
    // In the meantime the client has gone: Fastify would fail to write a head.
    if (reply.raw.closed || reply.raw.headersSent) discard(payload);
    else done(error);
  });
}

/** Sets `Cache-Control` (failures have theirs already) and `Vary`. Only the client's own cache may store a response. */
function setCacheHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const isTransient = reply.statusCode === 201 || request.route.config.isNeverStored === true;
  if (!reply.hasHeader('cache-control'))
    void reply.header('cache-control', isTransient ? 'no-store' : 'private, no-cache');
  if (!isUnknownPage(request)) void reply.header('vary', apiVary);
}

function isUnknownPage(request: FastifyRequest): boolean {
  return request.route.url === undefined && request.server.routeTable.isPublic(pathOf(request.url));
}

function discard(payload: unknown): void {
  if (payload instanceof Readable) payload.destroy();
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { apiVary } from './failure-response.ts';
import { pathOf } from './route-table.ts';

/** Adds the routes of one protocol to the API. */
export type ApiRoutes = (api: FastifyInstance) => Promise<void>;

/**
 * Opens the API: the scope of every path that isn't a public page, unknown ones included.
 *
 * What a request passes, in this order, before its body is read:
 *
 * 1. what HTTP itself refuses (`server.ts`, for the public pages too)
 * 2. OPTIONS, and what is missing among the public pages: neither asks for a key
 * 3. the place for authentication, then the quota: hooks that throw HttpError
 * 4. 404 for an unknown path, 405 for a method that it doesn't have
 */
export async function registerApi(server: FastifyInstance, routes: readonly ApiRoutes[]): Promise<void> {
  await server.register(async (api) => {
    api.addHook('onRequest', answerWithoutKey);
    api.addHook('onRequest', refuseUnmatched);
    api.addHook('onSend', setDefaultHeaders);
    // Brings requests without a route into this scope; also what `reply.callNotFound()` answers.
    api.setNotFoundHandler(refuseUnmatched);
    for (const register of routes) await register(api);
  });
}

async function answerWithoutKey(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const { routeTable } = request.server;
  const path = pathOf(request.url);
  if (request.method === 'OPTIONS') {
    const methods = routeTable.methodsOf(path);
    if (methods.length === 0) throw routeTable.unmatched(request.method, path);
    return reply.code(204).header('allow', methods.join(', ')).send();
  }
  if (request.is404 && routeTable.isPublic(path)) throw routeTable.unmatched(request.method, path);
  return undefined;
}

async function refuseUnmatched(request: FastifyRequest): Promise<void> {
  if (request.is404) throw request.server.routeTable.unmatched(request.method, pathOf(request.url));
}

/** Only what may be kept is kept, and by nobody but the client itself. Failures have said so already. */
async function setDefaultHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isPublic = request.server.routeTable.isPublic(pathOf(request.url));
  const isTransient = reply.statusCode === 201 || request.routeOptions.url === '/graphql';
  if (!reply.hasHeader('cache-control'))
    void reply.header('cache-control', isTransient ? 'no-store' : 'private, no-cache');
  if (!isPublic) void reply.header('vary', apiVary);
}

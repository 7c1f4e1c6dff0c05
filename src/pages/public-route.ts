import { basename } from 'node:path';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { HttpError } from '../http/error-table.ts';
import { nothingAt, pathOf } from '../http/route-table.ts';
import type { Built } from './built.ts';
import { StaticFile } from './static-file.ts';

/** Of every page: it needs no key. */
export const publicRoute = { config: { isPublic: true } };

/** A file whose name changes with its contents. */
export function asset(path: string): PageHandler {
  const file = new StaticFile(path);
  return (request, reply) => file.send(request, reply.header('cache-control', 'public, max-age=31536000, immutable'));
}

export type PageHandler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/** The pages and files of a folder that is built, by the rest of their paths: '' is the page itself. */
export type BuiltFiles = ReadonlyMap<string, PageHandler>;

/** Serves what is built, and nothing else: other paths never reach the file system. */
export function serveBuilt(server: FastifyInstance, url: string, name: string, built: Built<BuiltFiles>): void {
  const serve = (path: string, request: FastifyRequest, reply: FastifyReply): ReturnType<PageHandler> => {
    const handler = built.get(name).get(path);
    if (handler === undefined) throw nothingAt(pathOf(request.url));
    return handler(request, reply);
  };
  server.get(url, publicRoute, async (request, reply) => serve('', request, reply));
  server.get(`${url}/`, publicRoute, async (_request, reply) => reply.redirect(`../${basename(url)}`, 302));
  server.get(`${url}/*`, publicRoute, async (request, reply) =>
    serve((request.params as { '*': string })['*'], request, reply),
  );
}

/** A page that isn't there, and why. */
export function serveNotFound(server: FastifyInstance, url: string, reason: string): void {
  server.get(url, publicRoute, async () => {
    throw new HttpError('NOT_FOUND', reason);
  });
}

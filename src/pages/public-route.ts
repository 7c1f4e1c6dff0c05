import type { FastifyInstance } from 'fastify';

import { HttpError } from '../http/error-table.ts';
import { StaticFile } from './static-file.ts';

/** Of every page: it needs no key. */
export const publicRoute = { config: { isPublic: true } };

/** Serves a file whose name changes with its contents. */
export function serveAsset(server: FastifyInstance, url: string, path: string): void {
  const file = new StaticFile(path);
  server.get(url, publicRoute, async (request, reply) =>
    file.send(request, reply.header('cache-control', 'public, max-age=31536000, immutable')),
  );
}

/** A page that isn't there, and why. */
export function serveNotFound(server: FastifyInstance, url: string, reason: string): void {
  server.get(url, publicRoute, async () => {
    throw new HttpError('NOT_FOUND', reason);
  });
}

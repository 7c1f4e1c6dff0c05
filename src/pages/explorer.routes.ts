import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { publicRoute, serveAsset, serveNotFound } from './public-route.ts';
import { StaticFile } from './static-file.ts';

const url = '/graphiql';

/**
 * Everything comes from us. Monaco, the editor, writes its colours into style elements and keeps small pictures in its
 * style sheet.
 */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The examples, which are hidden with the schema. */
const namesFields = /^examples-/;

interface ExplorerOptions {
  readonly introspection: boolean;
}

/**
 * The explorer of the GraphQL API, as `npm run build` has put it into `directory`; how to build it where it has not.
 */
export function registerExplorer(server: FastifyInstance, directory: string, { introspection }: ExplorerOptions): void {
  if (existsSync(join(directory, 'index.html'))) serve(server, directory, introspection);
  else serveNotFound(server, url, 'The explorer is not built. `npm run build` builds it, a restart shows it.');
}

/** One route for each file: other paths never reach the file system. */
function serve(server: FastifyInstance, directory: string, introspection: boolean): void {
  const assets = join(directory, 'graphiql');
  for (const name of readdirSync(assets)) {
    if (/\.(?:br|gz)$/.test(name) || (namesFields.test(name) && !introspection)) continue;
    serveAsset(server, `${url}/${name}`, join(assets, name));
  }
  const index = new StaticFile(join(directory, 'index.html'));
  server.get(url, publicRoute, async (request, reply) =>
    index.send(
      request,
      reply.headers({
        'cache-control': 'no-cache',
        'content-security-policy': contentSecurityPolicy,
        'referrer-policy': 'no-referrer',
      }),
    ),
  );
  server.get(`${url}/`, publicRoute, async (_request, reply) => reply.redirect('../graphiql', 302));
}

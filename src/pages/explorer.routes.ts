import { existsSync } from 'node:fs';
import { join } from 'node:path';

import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

import { HttpError } from '../http/error-table.ts';

const url = '/graphiql';

/** Everything comes from us. Monaco, the editor, writes its colours into style elements and keeps small pictures in its style sheet. */
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

const page = { config: { isPublic: true } };

/** The explorer of the GraphQL API, as `npm run build` has put it into `directory`; how to build it where it has not. */
export async function registerExplorer(server: FastifyInstance, directory: string): Promise<void> {
  if (existsSync(join(directory, 'index.html'))) {
    await server.register((scope) => serve(scope, directory));
    return;
  }
  server.get(url, page, async () => {
    throw new HttpError('NOT_FOUND', 'The explorer is not built. `npm run build` builds it, a restart shows it.');
  });
}

async function serve(scope: FastifyInstance, directory: string): Promise<void> {
  await scope.register(fastifyStatic, {
    root: join(directory, 'graphiql'),
    prefix: `${url}/`,
    // One route for each file: other paths never reach the file system.
    wildcard: false,
    globIgnore: ['**/*.{br,gz}'],
    index: false,
    preCompressed: true,
    // Their names change with their contents.
    immutable: true,
    maxAge: '1y',
    // Whole files only: a range that can't be met would become an error of the library's own.
    acceptRanges: false,
  });
  scope.get(url, page, async (_request, reply) =>
    reply
      .headers({
        'cache-control': 'no-cache',
        'content-security-policy': contentSecurityPolicy,
        'referrer-policy': 'no-referrer',
      })
      .sendFile('index.html', directory, { cacheControl: false, acceptRanges: false }),
  );
  scope.get(`${url}/`, page, async (_request, reply) => reply.redirect('../graphiql', 302));
}

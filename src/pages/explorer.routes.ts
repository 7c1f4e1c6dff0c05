import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { Built } from './built.ts';
import { asset, type BuiltFiles, serveBuilt } from './public-route.ts';
import { StaticFile } from './static-file.ts';

const url = '/graphiql';

/** Monaco, the editor, writes style elements, and keeps small pictures in its style sheet. */
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

/** The explorer of the GraphQL API, as `npm run build` puts it into `directory`. */
export function registerExplorer(server: FastifyInstance, directory: string, { introspection }: ExplorerOptions): void {
  const built = new Built(join(directory, 'index.html'), () => filesOf(directory, introspection));
  serveBuilt(server, url, 'The explorer', built);
}

function filesOf(directory: string, introspection: boolean): BuiltFiles {
  const assets = join(directory, 'graphiql');
  const names = readdirSync(assets).filter(
    (name) => !/\.(?:br|gz)$/.test(name) && (introspection || !namesFields.test(name)),
  );
  const index = new StaticFile(join(directory, 'index.html'));
  return new Map([
    ...names.map((name) => [name, asset(join(assets, name))] as const),
    [
      '',
      (request, reply) =>
        index.send(
          request,
          reply.headers({
            'cache-control': 'no-cache',
            'content-security-policy': contentSecurityPolicy,
            'referrer-policy': 'no-referrer',
          }),
        ),
    ],
  ]);
}

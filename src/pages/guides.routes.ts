import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { publicRoute, serveAsset, serveNotFound } from './public-route.ts';
import { sendPublicText } from './public-text.ts';
import { withFigures, type LimitSettings } from './reference/figures.ts';
import { pageSecurityPolicy } from './reference/page.ts';
import { AddressedText, ownAddress, writtenAddress } from './addressed-text.ts';

const url = '/docs/graphql';

const notBuilt = 'The guides are not built. `npm run build` builds them, a restart shows them.';
const hidden =
  'The guides show the schema, which is not public: introspection is switched off (GRAPHQL_INTROSPECTION).';

/** The pages themselves, and the scripts that draw them. */
const pageFile = /\.html$|\.md\./;

/**
 * The guides of GraphQL, as `npm run build` has VitePress put them into `directory`; how to build them where it has
 * not. Their samples have the address at which they are read, their limits the figures of this service. They name the
 * schema, so they are hidden with it.
 */
export function registerGuides(
  server: FastifyInstance,
  directory: string,
  limits: LimitSettings & { readonly graphql: { readonly introspection: boolean } },
): void {
  const { introspection } = limits.graphql;
  if (!introspection || !existsSync(directory)) {
    return serveNotFound(server, url, introspection ? notBuilt : hidden);
  }
  server.get(`${url}/`, publicRoute, async (_request, reply) => reply.redirect('../graphql', 302));
  // One route for each file: other paths never reach the file system.
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (name === '404.html' || !/\.(?:html|js|css)$/.test(name)) continue;
    const path = join(directory, name);
    const read = (): string => readFileSync(path, 'utf8');
    if (pageFile.test(name) || read().includes(writtenAddress))
      serveText(server, name, () => withFigures(read(), limits));
    else serveAsset(server, `${url}/${name}`, path);
  }
  return undefined;
}

function serveText(server: FastifyInstance, name: string, read: () => string): void {
  const isPage = name.endsWith('.html');
  // GraphQL has no prefix.
  const text = new AddressedText(isPage ? 'text/html' : 'text/javascript', read);
  const path = isPage ? name.replace(/^index\.html$|\.html$/, '') : name;
  server.get([url, path].filter(Boolean).join('/'), publicRoute, async (request, reply) =>
    sendPublicText(
      request,
      isPage ? reply.header('content-security-policy', pageSecurityPolicy) : reply,
      text.at(ownAddress(request)),
    ),
  );
}

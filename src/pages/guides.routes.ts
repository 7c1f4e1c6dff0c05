import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { FastifyInstance } from 'fastify';

import { Built } from './built.ts';
import { asset, type BuiltFiles, type PageHandler, serveBuilt, serveNotFound } from './public-route.ts';
import { sendPublicText } from './public-text.ts';
import { withFigures, type LimitSettings } from './reference/figures.ts';
import { pageSecurityPolicy } from './reference/page.ts';
import { AddressedText, ownAddress, writtenAddress } from './addressed-text.ts';

const url = '/docs/graphql';

const hidden =
  'The guides show the schema, which is not public: introspection is switched off (GRAPHQL_INTROSPECTION).';

/** The pages themselves, and the scripts that draw them. */
const pageFile = /\.html$|\.md\./;

/** The guides, with this service's address and figures. They name the schema, so they are hidden with it. */
export function registerGuides(
  server: FastifyInstance,
  directory: string,
  limits: LimitSettings & { readonly graphql: { readonly introspection: boolean } },
): void {
  if (limits.graphql.introspection)
    serveBuilt(server, url, 'The guides', new Built(directory, () => filesOf(directory, limits)));
  else serveNotFound(server, url, hidden);
}

function filesOf(directory: string, limits: LimitSettings): BuiltFiles {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const served = names.filter((name) => name !== '404.html' && /\.(?:html|js|css)$/.test(name));
  return new Map(
    served.map((name) => {
      const path = join(directory, name);
      const read = (): string => readFileSync(path, 'utf8');
      const isText = pageFile.test(name) || read().includes(writtenAddress);
      return isText ? textOf(name, () => withFigures(read(), limits)) : [name, asset(path)];
    }),
  );
}

function textOf(name: string, read: () => string): [path: string, handler: PageHandler] {
  const isPage = name.endsWith('.html');
  // GraphQL has no prefix.
  const text = new AddressedText(isPage ? 'text/html' : 'text/javascript', read);
  const handler: PageHandler = (request, reply) =>
    sendPublicText(
      request,
      isPage ? reply.header('content-security-policy', pageSecurityPolicy) : reply,
      text.at(ownAddress(request)),
    );
  return [isPage ? name.replace(/^index\.html$|\.html$/, '') : name, handler];
}

import { existsSync, readFileSync } from 'node:fs';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { readYaml, type OpenApiDocument } from '../../rest/openapi/document.ts';
import { publicRoute, serveNotFound } from '../public-route.ts';
import { sendPublicText, serveDocument } from '../public-text.ts';
import { StaticFile } from '../static-file.ts';
import { withFigures, type LimitSettings } from './figures.ts';
import { pageSecurityPolicy, renderPage } from './page.ts';
import { AddressedText, ownAddress, writtenAddress } from '../addressed-text.ts';
import { scalarDocument } from './scalar-document.ts';

export interface DocsOptions {
  readonly document: OpenApiDocument;
  /** Where the REST layer is: an empty text for the root, or `/v1`. */
  readonly restPrefix: string;
  /** Scalar's script, which draws the page, as `npm run build` makes it. */
  readonly script: string;
  /** The guides that are shown with the document, as `npm run build` makes them. */
  readonly guides: string;
  /** The limits that the guides tell. */
  readonly limits: LimitSettings;
}

/** The consumer's guides of REST, as `.ci/guides.mjs` has built them. */
interface Guides {
  /** Markdown, to follow the document's own description. */
  readonly markdown: string;
  /** The description and the guides. */
  readonly html: string;
}

const notBuilt = 'The script of the reference page is not built. `npm run build` builds it, a restart shows the page.';

/** The OpenAPI document, as JSON and as YAML, and the page that shows it. All of them are public. */
export function registerDocs(
  server: FastifyInstance,
  { document, restPrefix, script, guides, limits }: DocsOptions,
): void {
  // Generators take the base of a client from its server.
  const published = { ...document, servers: [{ url: writtenAddress, description: 'This server.' }] };
  const addressOf = (request: FastifyRequest): string => `${ownAddress(request)}${restPrefix}`;
  const files = {
    '/openapi.json': new AddressedText('application/json', () => JSON.stringify(published)),
    '/openapi.yaml': new AddressedText('application/yaml', () =>
      readYaml().replace('- url: /\n', `- url: ${writtenAddress}\n`),
    ),
  };
  for (const [url, file] of Object.entries(files)) {
    serveDocument(server, url, (request) => file.at(addressOf(request)));
  }

  const texts = readGuides(guides);
  // The page sends requests to where it came from, whatever a proxy has made of the address.
  const relative = { ...published, servers: [{ url: restPrefix || '/' }] };
  const drawn = new AddressedText('application/json', () =>
    JSON.stringify(scalarDocument(relative, withFigures(texts.markdown, limits))),
  );
  server.get('/docs/openapi.json', publicRoute, async (request, reply) =>
    sendPublicText(request, reply, drawn.at(addressOf(request))),
  );

  const page = new AddressedText('text/html', () => renderPage(published, withFigures(texts.html, limits), restPrefix));
  for (const url of ['/docs', '/docs/']) {
    server.get(url, publicRoute, async (request, reply) =>
      sendPublicText(request, reply.header('content-security-policy', pageSecurityPolicy), page.at(addressOf(request))),
    );
  }

  if (!existsSync(script)) return serveNotFound(server, '/docs/scalar.js', notBuilt);
  const scalar = new StaticFile(script);
  server.get('/docs/scalar.js', publicRoute, async (request, reply) =>
    scalar.send(request, reply.header('cache-control', 'no-cache')),
  );
  return undefined;
}

/** Empty where they are not built. */
function readGuides(file: string): Guides {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Guides) : { markdown: '', html: '' };
}

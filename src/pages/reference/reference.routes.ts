import { readFileSync } from 'node:fs';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { readYaml, type OpenApiDocument } from '../../rest/openapi/document.ts';
import { Built } from '../built.ts';
import { publicRoute } from '../public-route.ts';
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

  // The page sends requests to where it came from, whatever a proxy has made of the address.
  const relative = { ...published, servers: [{ url: restPrefix || '/' }] };
  const textsWith = ({ markdown, html }: Guides) => ({
    drawn: new AddressedText('application/json', () =>
      JSON.stringify(scalarDocument(relative, withFigures(markdown, limits))),
    ),
    page: new AddressedText('text/html', () => renderPage(published, withFigures(html, limits), restPrefix)),
  });
  const withoutGuides = textsWith({ markdown: '', html: '' });
  const withGuides = new Built(guides, () => textsWith(JSON.parse(readFileSync(guides, 'utf8')) as Guides));
  const texts = () => withGuides.find() ?? withoutGuides;
  server.get('/docs/openapi.json', publicRoute, async (request, reply) =>
    sendPublicText(request, reply, texts().drawn.at(addressOf(request))),
  );
  for (const url of ['/docs', '/docs/']) {
    server.get(url, publicRoute, async (request, reply) =>
      sendPublicText(
        request,
        reply.header('content-security-policy', pageSecurityPolicy),
        texts().page.at(addressOf(request)),
      ),
    );
  }

  const scalar = new Built(script, () => new StaticFile(script));
  server.get('/docs/scalar.js', publicRoute, async (request, reply) =>
    scalar.get('The script of the reference page').send(request, reply.header('cache-control', 'no-cache')),
  );
}

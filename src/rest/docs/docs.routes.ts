import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';

import { readDocument } from '../document.ts';
import { entityTagOf, isNamedBy } from '../entity-tag.ts';
import { pageSecurityPolicy, renderPage } from './page.ts';
import { publishedDocument, textAt } from './published-document.ts';
import { loadScalarBundle, type ScalarBundle } from './scalar-bundle.ts';
import { scalarDocument } from './scalar-document.ts';

interface DocsOptions {
  /** Where the REST layer is: an empty text for the root, or `/v1`. */
  readonly restPrefix: string;
}

/** A host with or without a port, as it may be written into a shell command. */
const plainHost = /^[\w.:[\]-]+$/;

/** The OpenAPI document, as JSON and as YAML, and the page that makes it readable. They are for everybody. */
export function registerDocs(server: FastifyInstance, { restPrefix }: DocsOptions): void {
  const document = publishedDocument(readDocument(), restPrefix);
  const texts = {
    '/openapi.json': { mediaType: 'application/json', text: JSON.stringify(document) },
    '/openapi.yaml': { mediaType: 'application/yaml', text: stringify(document, documentStyle) },
    '/docs/openapi.json': { mediaType: 'application/json', text: JSON.stringify(scalarDocument(document)) },
  };
  const config = { isPublic: true };
  for (const [url, { mediaType, text }] of Object.entries(texts)) {
    server.get(url, { config }, async (request, reply) =>
      sendText(request, reply, mediaType, textAt(addressOf(request, restPrefix), text)),
    );
  }

  const page = renderPage(document);
  server.get('/docs', { config }, async (request, reply) => {
    void reply.header('content-security-policy', pageSecurityPolicy);
    return sendText(request, reply, 'text/html', page);
  });

  let bundle: Promise<ScalarBundle> | undefined;
  server.get('/docs/scalar.js', { config }, async (request, reply) => {
    bundle ??= loadScalarBundle();
    return sendBundle(request, reply, await bundle);
  });
}

/** For parsers that know neither merging nor references within a file, and lines as they are. */
const documentStyle = { aliasDuplicateObjects: false, lineWidth: 0 };

function sendText(request: FastifyRequest, reply: FastifyReply, mediaType: string, text: string): FastifyReply {
  const tag = entityTagOf(text);
  void reply.headers({ 'cache-control': 'no-cache', etag: tag });
  if (isNamedBy(request.headers['if-none-match'], tag)) return reply.code(304).send();
  return reply.type(`${mediaType}; charset=utf-8`).send(text);
}

/** Its tag is weak: it names the script, in whichever coding it is sent. */
function sendBundle(request: FastifyRequest, reply: FastifyReply, { plain, gzipped, tag }: ScalarBundle): FastifyReply {
  const isGzipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  void reply.headers({ 'cache-control': 'no-cache', vary: 'Accept-Encoding', etag: `W/${tag}` });
  if (isNamedBy(request.headers['if-none-match'], tag)) return reply.code(304).send();
  if (isGzipped) void reply.header('content-encoding', 'gzip');
  return reply.type('text/javascript; charset=utf-8').send(isGzipped ? gzipped : plain);
}

/** Where the REST layer is for whoever sent the request. */
function addressOf({ protocol, host }: FastifyRequest, restPrefix: string): string {
  return `${protocol}://${plainHost.test(host) ? host : 'localhost'}${restPrefix}`;
}

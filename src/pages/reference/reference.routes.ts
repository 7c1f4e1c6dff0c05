import { existsSync } from 'node:fs';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';

import { HttpError } from '../../http/error-table.ts';
import type { OpenApiDocument } from '../../rest/document.ts';
import { entityTagOf, isNamedBy } from '../../rest/entity-tag.ts';
import { pageSecurityPolicy, renderPage } from './page.ts';
import { publishedDocument, textAt } from './published-document.ts';
import { loadScalarBundle, type ScalarBundle } from './scalar-bundle.ts';
import { scalarDocument } from './scalar-document.ts';

interface DocsOptions {
  readonly document: OpenApiDocument;
  /** Where the REST layer is: an empty text for the root, or `/v1`. */
  readonly restPrefix: string;
  /** The page's script, compressed, as `npm run build` makes it. */
  readonly script: string;
}

const notBuilt = 'The script of the reference page is not built. `npm run build` builds it, a restart shows the page.';

/** A host with or without a port, as it may be written into a shell command. */
const plainHost = /^[\w.:[\]-]+$/;

/** The OpenAPI document, as JSON and as YAML, and the page that makes it readable. They are for everybody. */
export function registerDocs(server: FastifyInstance, { document, restPrefix, script }: DocsOptions): void {
  const published = publishedDocument(document, restPrefix);
  const files = {
    '/openapi.json': { mediaType: 'application/json', write: () => JSON.stringify(published) },
    '/openapi.yaml': { mediaType: 'application/yaml', write: () => stringify(published, documentStyle) },
    '/docs/openapi.json': { mediaType: 'application/json', write: () => JSON.stringify(scalarDocument(published)) },
  };
  const config = { isPublic: true };
  for (const [url, { mediaType, write }] of Object.entries(files)) {
    let text: string | undefined;
    server.get(url, { config }, async (request, reply) => {
      text ??= write();
      return sendText(request, reply, mediaType, textAt(addressOf(request, restPrefix), text));
    });
  }

  const page = renderPage(published);
  server.get('/docs', { config }, async (request, reply) => {
    void reply.header('content-security-policy', pageSecurityPolicy);
    return sendText(request, reply, 'text/html', page);
  });

  const isBuilt = existsSync(script);
  let bundle: Promise<ScalarBundle> | undefined;
  server.get('/docs/scalar.js', { config }, async (request, reply) => {
    if (!isBuilt) throw new HttpError('NOT_FOUND', notBuilt);
    bundle ??= loadScalarBundle(script);
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

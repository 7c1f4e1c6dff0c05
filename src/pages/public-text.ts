import { Readable } from 'node:stream';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { entityTagOf, isKnown } from '../rest/entity-tag.ts';
import { publicRoute } from './public-route.ts';

/** A public text as it is sent: the same buffers, however many clients take it at the same time. */
export interface PublicText {
  readonly mediaType: string;
  readonly parts: readonly Buffer[];
  /** Strong. */
  readonly tag: string;
}

export function publicText(mediaType: string, text: string): PublicText {
  return { mediaType, parts: [Buffer.from(text)], tag: entityTagOf(text) };
}

export function sendPublicText(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, parts, tag }: PublicText,
): FastifyReply {
  void reply.headers({ 'cache-control': 'no-cache', etag: tag });
  if (isKnown(request.headers, tag)) return reply.code(304).send();
  void reply.type(`${mediaType}; charset=utf-8`);
  if (parts.length === 1) return reply.send(parts[0]);
  void reply.header(
    'content-length',
    parts.reduce((bytes, part) => bytes + part.length, 0),
  );
  return reply.send(Readable.from(parts));
}

/** The methods of a document. OPTIONS is one, so that a page elsewhere may send `If-None-Match`. */
const methods = 'GET, HEAD, OPTIONS';

const anyOrigin = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag' };

/** Serves a document that pages of any origin may read: it is the same for all clients. */
export function serveDocument(
  server: FastifyInstance,
  url: string,
  textFor: (request: FastifyRequest) => PublicText,
): void {
  server.get(url, publicRoute, async (request, reply) =>
    sendPublicText(request, reply.headers(anyOrigin), textFor(request)),
  );
  server.options(url, publicRoute, async (_request, reply) =>
    reply
      .code(204)
      .headers({
        ...anyOrigin,
        allow: methods,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': '*, Authorization',
        'access-control-max-age': '600',
      })
      .send(),
  );
}

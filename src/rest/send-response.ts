import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { byteMillis, type Caller } from '../platform/callers/index.ts';
import { clientGone } from '../platform/http/index.ts';
import type { CollectionSlots } from './collection-slots.ts';
import type { RestResponse } from './handler.ts';
import { isKnown } from './entity-tag.ts';
import { jsonMediaType } from './media-types.ts';

/** Sends the response: that to a GET or HEAD as the client's preconditions on its entity tag say. */
export async function sendRestResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: RestResponse,
  collectionSlots: CollectionSlots,
): Promise<FastifyReply> {
  const { etag } = headers;
  const isUnchanged = etag !== undefined && isRead(request) && isKnown(request.headers, etag);
  void reply.code(status).headers(headers);
  if (isUnchanged) return reply.code(304).send();
  if (status !== 204) void reply.header('content-type', jsonMediaType);
  if (body === undefined || typeof body === 'string') return reply.send(body);
  return streamCollection(request, reply, body, collectionSlots);
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The first chunk is awaited: its error gets a response, a later one destroys the connection. */
async function streamCollection(
  { caller }: FastifyRequest,
  reply: FastifyReply,
  chunks: AsyncIterable<string>,
  collectionSlots: CollectionSlots,
): Promise<FastifyReply> {
  const slot = await collectionSlots.take(caller);
  // A closed response doesn't emit `close` once more.
  if (reply.raw.closed) {
    slot.release();
    throw clientGone;
  }
  reply.raw.once('close', () => slot.release());
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  return reply.send(Readable.from(chunksOf(caller, first, iterator), { highWaterMark: 1 }));
}

/** Reads a chunk when the client has taken the one before, as bytes: of a text Node would count them first. */
async function* chunksOf(
  caller: Caller,
  first: IteratorResult<string>,
  rest: AsyncIterator<string>,
): AsyncGenerator<Buffer, void> {
  try {
    for (let chunk = first; chunk.done !== true; chunk = await rest.next()) {
      caller.use(chunk.value.length * byteMillis);
      yield Buffer.from(chunk.value);
    }
  } finally {
    await rest.return?.();
  }
}

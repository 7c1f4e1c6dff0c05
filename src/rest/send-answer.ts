import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { principalIdOf } from '../http/principal.ts';
import type { Answer } from './answers.ts';
import { isNamedBy } from './entity-tag.ts';
import { jsonMediaType } from './media-types.ts';
import type { StreamPlaces } from './stream-places.ts';

/** Where whole collections are written. */
export interface Streams {
  readonly places: StreamPlaces;
  readonly stallMillis: number;
}

/** Sends the answer, or as much of it as the client needs. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Answer,
  streams: Streams,
): Promise<FastifyReply> {
  void reply.code(status).headers(headers);
  if (status === 200 && headers['etag'] !== undefined && isRead(request)) {
    if (isNamedBy(request.headers['if-none-match'], headers['etag'])) return reply.code(304).send();
  }
  if (status !== 204) void reply.header('content-type', jsonMediaType);
  if (body === undefined || typeof body === 'string') return reply.send(body);
  return sendPieces(request, reply, body, streams);
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Writes the pieces as fast as the client takes them. The first one is awaited, so that what fails at once is still a proper
 * failure; what fails later destroys the connection, so that the response can't look complete.
 */
async function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<string>,
  { places, stallMillis }: Streams,
): Promise<FastifyReply> {
  const giveBack = places.take(principalIdOf(request));
  const cut = setTimeout(() => reply.raw.destroy(), stallMillis);
  reply.raw.once('close', () => {
    giveBack();
    clearTimeout(cut);
  });
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return reply.send(Readable.from(untilStalled(first, iterator, cut), { highWaterMark: 1 }));
}

/** The timer starts anew whenever the client has taken something, because only then the next piece is asked for. */
async function* untilStalled(
  first: IteratorResult<string>,
  rest: AsyncIterator<string>,
  timer: NodeJS.Timeout,
): AsyncGenerator<string, void> {
  try {
    for (let piece = first; piece.done !== true; piece = await rest.next()) {
      timer.refresh();
      yield piece.value;
      timer.refresh();
    }
  } finally {
    await rest.return?.();
  }
}

import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Answer } from './answers.ts';
import { isNamedBy } from './entity-tag.ts';
import { jsonMediaType } from './media-types.ts';
import type { StreamPlaces } from './stream-places.ts';

/** Sends the answer, or as much of it as the client needs. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Answer,
  places: StreamPlaces,
): Promise<FastifyReply> {
  void reply.code(status).headers(headers);
  if (status === 200 && headers['etag'] !== undefined && isRead(request)) {
    if (isNamedBy(request.headers['if-none-match'], headers['etag'])) return reply.code(304).send();
  }
  if (status !== 204) void reply.header('content-type', jsonMediaType);
  if (body === undefined || typeof body === 'string') return reply.send(body);
  return sendPieces(request, reply, body, places);
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
  places: StreamPlaces,
): Promise<FastifyReply> {
  whenOver(request, reply, places.take(request.principal.id));
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return reply.send(Readable.from(piecesOf(first, iterator), { highWaterMark: 1 }));
}

/** Also when the connection goes before it is the response's turn on it, or has gone already: Node says neither to the response. */
function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, listener: () => void): void {
  const end = (): void => {
    socket.off('close', end);
    listener();
  };
  response.once('close', end);
  socket.once('close', end);
  if (socket.destroyed) end();
}

/** The pieces; the next one is asked for when the client has taken the last. */
async function* piecesOf(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncGenerator<string, void> {
  try {
    for (let piece = first; piece.done !== true; piece = await rest.next()) yield piece.value;
  } finally {
    await rest.return?.();
  }
}

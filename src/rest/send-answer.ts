import type { ServerResponse } from 'node:http';
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
  const timer = cutWhenStalled(reply.raw, stallMillis);
  whenOver(request, reply, () => {
    giveBack();
    clearTimeout(timer);
  });
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  return reply.send(Readable.from(refreshing(timer, first, iterator), { highWaterMark: 1 }));
}

/** A pipelined response has no socket as long as it isn't its turn, and nothing to take. */
function cutWhenStalled(response: ServerResponse, stallMillis: number): NodeJS.Timeout {
  const timer = setTimeout(() => {
    if (response.socket === null) timer.refresh();
    else response.destroy();
  }, stallMillis);
  return timer;
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

/** The pieces; the timer starts anew whenever the client has taken something, because only then the next one is asked for. */
async function* refreshing(
  timer: NodeJS.Timeout,
  first: IteratorResult<string>,
  rest: AsyncIterator<string>,
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

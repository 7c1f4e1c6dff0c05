import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

import { trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { type Caller, type Lease, requestBytes, type RequestMemory, requestMillis } from '../callers/index.ts';
import type { BoundingParts } from './node-server.ts';
import { Refusal } from './refusal.ts';

declare module 'fastify' {
  interface FastifyInstance extends BoundingParts {}
  interface FastifyRequest {
    /** For whom it is carried out. Set by `openRequest`, as `memory` is. */
    caller: Caller;
    memory: RequestMemory;
    /** From when its work begins until its response. */
    waiting: Lease | undefined;
  }
}

/** Only the log has it: its client can't receive it. */
export const clientGone = new Refusal('BAD_REQUEST', 'The client has disconnected.');

/** Decorates Fastify's server with what bounds Node's below it. Bodies are then read by `bodies.read` alone. */
export function decorateServer(server: FastifyInstance, node: BoundingParts): void {
  server.removeAllContentTypeParsers();
  server.decorate('callers', node.callers);
  server.decorate('memory', node.memory);
  server.decorate('connections', node.connections);
  server.decorate('bodies', node.bodies);
  server.decorate('overload', node.overload);
  server.decorateRequest('caller');
  server.decorateRequest('memory');
  server.decorateRequest('waiting', undefined);
  server.addHook('onClose', async () => node.overload.stop());
}

/** The client of the request is known: what it holds is in that account from now on. */
export function openRequest(request: FastifyRequest, reply: FastifyReply, clientId: string): void {
  const { callers, connections } = request.server;
  request.caller = callers.for(clientId, request.id);
  request.memory = connections.openMemory(reply.raw, request.caller);
}

/**
 * A hook: the work begins, when there is memory for it. It is counted until there is a response, and aborted when the
 * client disconnects before.
 */
export function beginWork(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  const { raw } = reply;
  if (request.raw.socket.destroyed) return done(clientGone);
  try {
    request.server.overload.begin(request);
  } catch (refusal) {
    return done(refusal as Refusal);
  }
  const { caller } = request;
  const span = trace.getActiveSpan();
  if (span?.isRecording() === true) caller.span = span;
  endOnClose(raw, caller, request.waiting);
  const waiting = request.memory.reserve(requestBytes);
  if (waiting === undefined) return done();
  return continueAfter(waiting, reply, (error) => done(error ?? undefined));
}

/**
 * Lets a hook of Fastify go on when its promise is settled. When what follows throws, no response is possible any more:
 * the failure is logged, and the connection closed.
 */
export function continueAfter(
  promise: Promise<unknown>,
  { request, raw }: FastifyReply,
  done: (error: Error | null) => void,
): void {
  promise
    .then(() => done(null), done)
    .catch((error: unknown) => {
      const level = error instanceof Refusal ? 'info' : 'error';
      // A client that has gone is no failure.
      if (!request.raw.socket.destroyed) request.log[level]({ err: error }, 'The response could not be sent.');
      raw.destroy();
    });
}

/** Made apart: it keeps nothing of the request, which a stream outlives. */
function endOnClose(response: ServerResponse, caller: Caller, waiting: Lease | undefined): void {
  response.on('close', () => {
    if (response.writableFinished) waiting?.release(requestMillis);
    else caller.abort(clientGone);
  });
}

/** There is a response: the work has ended. */
export function endWork(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const length = typeof payload === 'string' ? payload.length : Number(reply.getHeader('content-length') ?? 0);
  request.server.overload.end(request, length);
}

/**
 * The response goes on as a stream: its head is sent. What follows is written to what is returned, and meanwhile neither
 * that nor the connection keeps the request or anything that the client has sent.
 */
export function detachResponse({ server, raw }: FastifyRequest, reply: FastifyReply): ServerResponse {
  const { raw: response } = reply;
  void reply.hijack();
  response.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
  response.flushHeaders();
  server.connections.beginStream(raw.socket);
  raw.headers = {};
  raw.rawHeaders.length = 0;
  forgetRequest(response);
  return response;
}

/** Fastify's (5.12) own listener has nothing to do for a response that was hijacked, and keeps the request. */
function forgetRequest(response: ServerResponse): void {
  response.on('error', () => undefined);
  for (const event of ['finish', 'error'] as const) {
    const listeners = response.listeners(event) as (() => void)[];
    for (const listener of listeners) if (listener.name === 'onResFinished') response.removeListener(event, listener);
  }
}

/** The chunks of a response, each read when the client has taken those before. */
class Chunks extends Readable {
  /** The last one first. */
  readonly #left: Buffer[];
  /** Of these. */
  #bytes: number;

  constructor(chunks: readonly Buffer[]) {
    super({ highWaterMark: 1 });
    this.#bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    this.#left = chunks.toReversed();
  }

  /** Of what hasn't been written; one chunk is read ahead. */
  get bytesLeft(): number {
    return this.#bytes + this.readableLength;
  }

  override _read(): void {
    const chunk = this.#left.pop();
    this.#bytes -= chunk?.length ?? 0;
    this.push(chunk ?? null);
  }
}

/**
 * Sends a response of known length: a text in one piece; with bytes in it as fast as the client takes it, and what it
 * hasn't taken counts as unread.
 */
export function sendChunks(
  { raw, server }: FastifyRequest,
  reply: FastifyReply,
  chunks: readonly (Buffer | string)[],
): void {
  if (chunks.every((chunk) => typeof chunk === 'string')) {
    void reply.send(chunks.join(''));
    return;
  }
  const payload = new Chunks(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)));
  const connection = server.connections.of(raw.socket);
  if (connection !== undefined) connection.unwritten = payload;
  void reply.header('content-length', String(payload.bytesLeft)).send(payload);
}

import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

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

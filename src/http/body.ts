import type { IncomingMessage } from 'node:http';

import type { FastifyRequest } from 'fastify';

import { HttpError } from './error-table.ts';
import { maxBodyBytes } from './limits.ts';

/** Called once with the body, or with why there is none. */
type Done = (error: Error | null, body: Buffer) => void;

const none = Buffer.alloc(0);
const minBufferBytes = 4096;

/**
 * Reads a body of at most `maxBodyBytes`; a larger one is PAYLOAD_TOO_LARGE. An error of the payload ends it.
 *
 * Fastify's own reading waits for three events of the stream. Most bodies have arrived together with their headers, and are read at once.
 */
export function readBody({ headers }: FastifyRequest, payload: IncomingMessage, done: Done): void {
  // A stream that has ended before anyone could listen will emit nothing.
  if (payload.readableEnded) return done(null, none);
  const length = Number(headers['content-length']);
  if (length > maxBodyBytes) return done(tooLarge, none);
  if (payload.readableLength === length) {
    const body = (payload.read() as Buffer | null) ?? none;
    // Unread, the stream would never end.
    payload.resume();
    return done(null, body);
  }
  return readChunks(payload, done);
}

/** In one buffer that grows: as an object each, chunks of one byte would take hundreds of times their bytes. */
function readChunks(payload: IncomingMessage, done: Done): void {
  let body = none;
  let length = 0;
  const end = (error: Error | null): void => {
    payload.off('data', add).off('end', finish).off('error', end);
    done(error, body.subarray(0, length));
  };
  const finish = (): void => end(null);
  const add = (chunk: Buffer): void => {
    const needed = length + chunk.length;
    if (needed > maxBodyBytes) return end(tooLarge);
    if (needed > body.length) body = Buffer.concat([body], Math.max(2 * needed, minBufferBytes));
    chunk.copy(body, length);
    length = needed;
    return undefined;
  };
  payload.on('data', add).on('end', finish).on('error', end);
}

const tooLarge = new HttpError('PAYLOAD_TOO_LARGE', 'The request body is larger than 1 MiB (1,048,576 bytes).');

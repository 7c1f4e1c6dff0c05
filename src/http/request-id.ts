import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The client's own `X-Request-Id` when it is harmless, so that both sides' logs can be laid beside each other; else a fresh one.
 *
 * A fresh one is put where the client's would be, so that the same request has the same one whenever it is asked for.
 */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && acceptable.test(given)) return given;
  const fresh = randomUUID();
  request.headers['x-request-id'] = fresh;
  return fresh;
}

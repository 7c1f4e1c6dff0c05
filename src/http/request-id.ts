import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { redactSecrets } from '../domain/access/redaction.ts';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The client's own `X-Request-Id` when it is harmless and has no key in it, so that the logs of both sides can be
 * correlated; else a new one.
 *
 * A new one is written into the request's headers, so that later calls return the same one.
 */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && acceptable.test(given) && redactSecrets(given) === given) return given;
  const fresh = randomUUID();
  request.headers['x-request-id'] = fresh;
  return fresh;
}

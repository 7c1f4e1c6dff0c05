import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Accounts } from '../../account/accounts.ts';
import { Share, type Lease } from '../../account/share.ts';
import type { OnRefusal } from './bounds.ts';
import { HttpError } from '../error-table.ts';

/** The limits of memory for large responses. Tests lower them. */
export interface ResponseMemoryLimits {
  readonly maxResponseBytesOfKey: number;
  readonly maxResponseBytesOfAll: number;
  readonly responseWaitMillis: number;
}

const mebibyte = 1024 * 1024;

const defaultLimits: ResponseMemoryLimits = {
  maxResponseBytesOfKey: 32 * mebibyte,
  maxResponseBytesOfAll: 128 * mebibyte,
  responseWaitMillis: 2_000,
};

const retryAfterSeconds = 5;

/** A response that is estimated to be smaller isn't counted: there are at most 1,000 under way. */
export const smallResponseBytes = 256 * 1024;

/**
 * Memory for large responses, reserved before they are executed and held until the client has read them: an estimate of
 * what a response becomes is counted until its size is known. One response is always possible.
 */
export function createResponseMemory(
  accounts: Accounts,
  onRefusal: OnRefusal,
  limits: Partial<ResponseMemoryLimits> = {},
): Share {
  const { maxResponseBytesOfKey, maxResponseBytesOfAll, responseWaitMillis } = { ...defaultLimits, ...limits };
  return new Share(accounts, {
    ofClient: maxResponseBytesOfKey,
    ofAll: maxResponseBytesOfAll,
    waitMillis: responseWaitMillis,
    isOneAlwaysPossible: true,
    refuse: () => {
      onRefusal('unread_responses');
      const message =
        'Too many large responses are under way or wait to be read. Read them, and try again in a few seconds.';
      return new HttpError('UNAVAILABLE', message, { retryAfterSeconds });
    },
  });
}

/** Reserves memory for a response that may be large, until it has been sent, or its connection is closed. */
export async function reserveFor(
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: number,
): Promise<Pick<Lease, 'resize'>> {
  const { server, caller, raw } = request;
  const memory = await server.responseMemory.take(caller, bytes);
  if (reply.raw.closed || raw.socket.destroyed) memory.release();
  else reply.raw.once('close', () => memory.release());
  return memory;
}

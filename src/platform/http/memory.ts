import { type Accounts, Memory } from '../callers/index.ts';
import type { OnRefusal } from './bounds.ts';
import { Refusal } from './refusal.ts';

/** The limits of memory for requests, responses and streams together. Tests lower them. */
export interface MemoryLimits {
  readonly maxMemoryOfClient: number;
  readonly maxMemoryOfAll: number;
  readonly memoryWaitMillis: number;
}

const mebibyte = 1024 * 1024;

const defaultLimits: MemoryLimits = {
  maxMemoryOfClient: 32 * mebibyte,
  maxMemoryOfAll: 128 * mebibyte,
  memoryWaitMillis: 2_000,
};

const retryAfterSeconds = 5;

/** The one account of bodies, results and what clients haven't read of their responses. */
export function createMemory(accounts: Accounts, onRefusal: OnRefusal, limits: Partial<MemoryLimits> = {}): Memory {
  const { maxMemoryOfClient: ofClient, maxMemoryOfAll: ofAll, memoryWaitMillis } = { ...defaultLimits, ...limits };
  return new Memory(accounts, {
    ofClient,
    ofAll,
    waitMillis: memoryWaitMillis,
    refuse: (limit) => {
      onRefusal('memory');
      const message =
        limit === 'client'
          ? `The requests of this client, and the responses that it hasn't read, hold ${ofClient} bytes already: read them, or close their connections.`
          : 'Too many large requests and responses are under way or wait to be read. Try again in a few seconds.';
      return new Refusal('UNAVAILABLE', message, { retryAfterSeconds });
    },
  });
}

import { Share } from '../callers/index.ts';
import type { BoundsOptions } from './bounds.ts';
import { Refusal } from './refusal.ts';

const retryAfterSeconds = 5;

/** The one account of bodies, results and what clients haven't read of their responses. */
export function createMemory({ callers, onRefusal, limits }: BoundsOptions): Share {
  const { maxMemoryOfClient: ofClient, maxMemoryOfAll: ofAll, memoryWaitMillis } = limits;
  return new Share(callers.accounts, {
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

import { setTimeout as sleep } from 'node:timers/promises';

import { waitMillis } from './retrying-fetch.ts';

// guide:begin refusal
/** Why the service doesn't go on. After the status 410 read the lists again, and follow from a new position. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
// guide:end

// guide:begin wait-to-go-on
/** What has ended a stream. Without a status the connection was lost. */
export interface Ending {
  readonly status?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Waits before the next attempt, which goes on from the same position. Throws a Refusal when that would be refused
 * again.
 */
export async function waitToGoOn(attempt: number, ending: Ending, signal: AbortSignal): Promise<void> {
  const { status = 0, retryAfter, message = `Refused with ${status}.` } = ending;
  if (status >= 400 && status < 500 && ![408, 429].includes(status)) throw new Refusal(status, message);
  await sleep(waitMillis(attempt, retryAfter), undefined, { signal }).catch(() => undefined);
}
// guide:end

import { setTimeout as sleep } from 'node:timers/promises';

import { waitMillis } from './back-off.ts';

// guide:begin wait-to-go-on
/**
 * Why the service doesn't go on. With the status 410 the position is gone: read the lists again, and follow from a new
 * position.
 */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, cause: unknown) {
    super(status === 410 ? 'The position is gone: read the lists again.' : `Refused with ${status}.`, { cause });
    this.status = status;
  }
}

/** What has ended a stream, or the reading of a page. Without a status the connection was lost. */
export interface Ending {
  readonly status?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly error?: unknown;
}

/**
 * Waits before the next attempt, which goes on from the same position. Throws a Refusal when that would be refused
 * again.
 */
export async function waitToGoOn(attempt: number, ending: Ending, signal: AbortSignal): Promise<void> {
  const { status = 0, retryAfter, error } = ending;
  if (status >= 400 && status < 500 && ![408, 429].includes(status)) throw new Refusal(status, error);
  await sleep(waitMillis(attempt, retryAfter), undefined, { signal }).catch(() => undefined);
}
// guide:end

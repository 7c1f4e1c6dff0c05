import { setTimeout as sleep } from 'node:timers/promises';

import { retryingFetch } from '../shared/retrying-fetch.ts';
import { Refusal } from '../shared/wait-to-go-on.ts';

// guide:begin events-fetch
/** How long to wait at the end of the log: twelve requests a minute, while nothing happens in the store. */
const pauseMillis = 5_000;

export interface StoreEvent {
  readonly id: string;
  readonly type: string;
  readonly resource?: string;
  readonly object?: object;
}

/** The address in `Link` after which the events go on. */
export function nextOf({ headers }: Response): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
}

/**
 * Follows `Link` from a page on until it is aborted. `keep` is called with the position after the events that are
 * handled: a program that begins there again misses none. Throws a Refusal when the service won't go on; as long as it
 * can't, the same page is asked for again.
 */
export async function followByFetch(
  start: URL,
  key: string,
  handle: (event: StoreEvent) => void,
  signal: AbortSignal,
  keep: (position: URL) => void = () => undefined,
): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  try {
    for (let next = start; ;) {
      const response = await retryingFetch(next, { headers, signal }, Infinity);
      if (!response.ok) throw new Refusal(response.status, ((await response.json()) as { message: string }).message);
      for (const event of (await response.json()) as readonly StoreEvent[]) handle(event);
      const asked = next;
      next = new URL(nextOf(response) ?? asked, asked);
      keep(next);
      // The end of the log: elsewhere even an empty page, as a filter leaves it, leads to another address.
      if (next.href === asked.href) await sleep(pauseMillis, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
// guide:end

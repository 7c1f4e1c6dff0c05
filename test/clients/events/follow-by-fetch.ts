import { setTimeout as sleep } from 'node:timers/promises';

import { waitToGoOn } from '../shared/wait-to-go-on.ts';

// guide:begin events-fetch
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
 * Follows `Link` from a page on until it is aborted, and waits a second where nothing has happened. `keep` is called
 * with the position after the events that are handled: a program that begins there again misses none. Throws a Refusal.
 */
export async function followByFetch(
  start: URL,
  key: string,
  handle: (event: StoreEvent) => void,
  signal: AbortSignal,
  keep: (position: URL) => void = () => undefined,
): Promise<void> {
  let next = start;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const response = await fetch(next, { headers: { Authorization: `Bearer ${key}` }, signal }).catch(() => undefined);
    const body: unknown = await response?.json().catch(() => undefined);
    if (response?.ok !== true || body === undefined) {
      // Without a whole page the same one is read again.
      const retryAfter = Number(response?.headers.get('retry-after') ?? 0);
      await waitToGoOn(attempt, { status: response?.status, retryAfter, error: body }, signal);
      continue;
    }
    const events = body as readonly StoreEvent[];
    for (const event of events) handle(event);
    next = new URL(nextOf(response) ?? next, next);
    keep(next);
    attempt = 0;
    if (events.length === 0) await sleep(1_000, undefined, { signal }).catch(() => undefined);
  }
}
// guide:end

import { setTimeout as sleep } from 'node:timers/promises';

import { waitMillis } from './back-off.ts';

// guide:begin waiting-fetch
/** Beyond it the refusal is the result, at once where the service names a longer time, such as the rest of a day. */
const patienceMillis = 120_000;

/**
 * `fetch` that waits out a spent quota (429), and where it is safe to send the request again, a service that is not
 * available (503) and the same request under way (409, which has `Retry-After` only then).
 */
export async function waitingFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  // After a 429 nothing was done. After a 503 a write may have been: with an Idempotency-Key it is done once all the
  // same.
  const repeated = request.method !== 'POST' || request.headers.has('Idempotency-Key') ? [409, 429, 503] : [429];
  const endsAt = Date.now() + patienceMillis;
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(request.clone());
    const retryAfter = response.headers.get('Retry-After');
    if (!repeated.includes(response.status) || retryAfter === null) return response;
    const wait = waitMillis(attempt, Number(retryAfter));
    if (Date.now() + wait > endsAt) return response;
    await sleep(wait);
  }
}
// guide:end

import { setTimeout as sleep } from 'node:timers/promises';

// guide:begin waiting-fetch
const maxAttempts = 5;

/**
 * `fetch` that waits out a spent quota: after a 429 it sends the request again, not before `Retry-After`, and each time a little later,
 * by chance, so that many clients don't come back at the same moment.
 */
export async function waitingFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(request.clone());
    if (response.status !== 429 || attempt === maxAttempts) return response;
    const retryAfterSeconds = Number(response.headers.get('Retry-After'));
    await sleep((retryAfterSeconds + Math.random() * 2 ** (attempt - 1)) * 1000);
  }
}
// guide:end

import { setTimeout as sleep } from 'node:timers/promises';

import { waitMillis } from './back-off.ts';
import { waitingFetch } from './waiting-fetch.ts';

// guide:begin retrying-fetch
const maxRetries = 5;

/**
 * `fetch` that retries what has an `Idempotency-Key` when the response was lost. Without a key it could be done twice.
 */
export async function retryingFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  for (let retries = 0; ; retries += 1) {
    try {
      const response = await waitingFetch(request.clone());
      // The connection can end within the body as well: only a whole response says what has happened.
      await response.clone().arrayBuffer();
      return response;
    } catch (error) {
      const canRetry = request.headers.has('Idempotency-Key') && !request.signal.aborted;
      if (!canRetry || retries === maxRetries) throw error;
    }
    await sleep(waitMillis(retries + 1));
  }
}
// guide:end

import assert from 'node:assert/strict';
import { once } from 'node:events';

/** Where the service is, and the keys that the programs have: `run.mjs` says so. */
function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start the programs by npm run test:clients.`);
  return value;
}

export const serviceUrl = setting('SERVICE_URL');
export const apiKey = setting('API_KEY');
/** A key with one request per minute, so that its second request is refused. */
export const throttledKey = setting('THROTTLED_API_KEY');
const petCount = Number(setting('PET_COUNT'));

/** Checks that the pages have led to every pet, and to none twice. */
export function assertEveryPet(pets: readonly { readonly id: string | number }[]): void {
  assert.equal(pets.length, petCount);
  assert.equal(new Set(pets.map(({ id }) => String(id))).size, petCount);
}

/**
 * Has `run.mjs` revoke the API key, or restart the service after it has ended by a signal, or neither; resolves when it
 * is done. All programs at one service demand restarts and pauses together: what is second here waits for the others.
 */
export async function demand(what: 'revoke' | { readonly restart?: string }): Promise<void> {
  const done = once(process, 'message', { signal: AbortSignal.timeout(180_000) });
  process.send?.(what);
  await done;
  process.channel?.unref();
}

/** Prints what the program has seen. */
export function report(figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

/**
 * Sends a request twice with a key that has one per minute. Returns how many seconds the second one took, which has to
 * wait.
 */
export async function secondsThrottled(send: () => Promise<unknown>): Promise<number> {
  await send();
  const started = performance.now();
  await send();
  const seconds = (performance.now() - started) / 1000;
  assert.ok(seconds > 1, `the second request had to wait, but took ${seconds} s`);
  return Math.round(seconds);
}

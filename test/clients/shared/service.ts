import assert from 'node:assert/strict';

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

/** Prints what the program has seen. */
export function report(figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

/** Does the work and measures how many seconds it takes. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const started = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - started) / 1000 };
}

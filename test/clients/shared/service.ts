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
/** How many pets there are. */
export const petCount = Number(setting('PET_COUNT'));

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

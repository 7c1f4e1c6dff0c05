import { setTimeout as wait } from 'node:timers/promises';

/** Long enough for most, and too short to take a core from what is waited for. */
const eagerMillis = 50;

/** Less than Jest gives a test: then the condition is named. No test is about how soon one holds. */
const patientMillis = 100_000;

/**
 * Resolves when the condition holds, which is checked in every tick of the event loop for a moment, then every five
 * milliseconds, and every fifty after a second: many conditions are requests, which take a core from what is waited
 * for. Or at the interval that is given, from the beginning.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { maxMillis = patientMillis, everyMillis }: { readonly maxMillis?: number; readonly everyMillis?: number } = {},
): Promise<void> {
  const started = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - started;
    if (waited > maxMillis) throw new Error(`Not fulfilled within ${maxMillis} ms: ${condition.toString()}`);
    const isEager = everyMillis === undefined && waited < eagerMillis;
    const pause = everyMillis ?? Math.min(50, Math.max(5, waited / 20));
    await (isEager ? new Promise(setImmediate) : wait(pause));
  }
}

/** Resolves with the first value that is wanted, of those that are read one after another. */
export async function awaitValue<T>(
  read: () => Promise<T>,
  isWanted: (value: T) => boolean,
  options: Parameters<typeof until>[1] = {},
): Promise<T> {
  let value: T;
  await until(async () => isWanted((value = await read())), options);
  return value!;
}

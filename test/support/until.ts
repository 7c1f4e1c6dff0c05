import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves when the condition holds, which is checked in every tick of the event loop, or less often where that would
 * hold up what is waited for.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { maxMillis = 20_000, everyMillis = 0 }: { readonly maxMillis?: number; readonly everyMillis?: number } = {},
): Promise<void> {
  const deadline = performance.now() + maxMillis;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not fulfilled within ${maxMillis} ms: ${condition.toString()}`);
    await (everyMillis === 0 ? new Promise(setImmediate) : wait(everyMillis));
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

const maxMillis = 20_000;

/** Resolves when the condition holds, which is checked in every tick of the event loop. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxMillis;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not fulfilled within ${maxMillis} ms: ${condition.toString()}`);
    await new Promise(setImmediate);
  }
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all that nothing refers to, so that what is left can be measured. */
export const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Watches the ticks of the event loop until it is stopped. The longest one is measured in processor time of the thread:
 * the time of the clock is that of whatever else the machine does.
 */
export function watchTicks(): { stop(): Promise<{ readonly ticks: number; readonly longestMillis: number }> } {
  let [ticks, longestMillis, last] = [0, 0, threadMillis()];
  let immediate = setImmediate(function tick() {
    const now = threadMillis();
    longestMillis = Math.max(longestMillis, now - last);
    last = now;
    ticks += 1;
    immediate = setImmediate(tick);
  });
  return {
    stop: async () => {
      await new Promise((resolve) => void setImmediate(resolve));
      clearImmediate(immediate);
      return { ticks, longestMillis };
    },
  };
}

/** Does nothing but take time. */
export function holdLoop(millis: number): void {
  const endsAt = performance.now() + millis;
  while (performance.now() < endsAt);
}

/** Processor time of this thread. */
export function threadMillis(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

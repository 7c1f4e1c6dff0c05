/**
 * Watches the ticks of the event loop until it is stopped. The longest one is measured in processor time of the thread: the time of the clock is
 * that of whatever else the machine does.
 */
export function watchTurns(): { stop(): Promise<{ readonly turns: number; readonly longestMillis: number }> } {
  let [turns, longestMillis, last] = [0, 0, threadMillis()];
  let immediate = setImmediate(function turn() {
    const now = threadMillis();
    longestMillis = Math.max(longestMillis, now - last);
    last = now;
    turns += 1;
    immediate = setImmediate(turn);
  });
  return {
    stop: async () => {
      await new Promise((resolve) => void setImmediate(resolve));
      clearImmediate(immediate);
      return { turns, longestMillis };
    },
  };
}

/** Processor time of this thread. */
export function threadMillis(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Watches the turns of the event loop until it is stopped. */
export function watchTurns(): { stop(): Promise<{ readonly turns: number; readonly longestMillis: number }> } {
  let [turns, longestMillis, last] = [0, 0, performance.now()];
  let immediate = setImmediate(function turn() {
    const now = performance.now();
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

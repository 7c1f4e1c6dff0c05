import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into the service (`--import`): the longest tick of its event loop since it was last asked, in processor time
 * of the thread.
 *
 * Timers fire once in a tick, so what the thread has used between two of them is at most one long tick and a few short
 * ones.
 */
if (isMainThread) {
  let [longestMillis, last] = [0, threadMillis()];
  setInterval(() => {
    const now = threadMillis();
    longestMillis = Math.max(longestMillis, now - last);
    last = now;
  }, 5).unref();
  process.on('SIGUSR2', () => {
    process.stderr.write(`longest tick ${Math.round(longestMillis)} ms\n`);
    longestMillis = 0;
  });
}

function threadMillis(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

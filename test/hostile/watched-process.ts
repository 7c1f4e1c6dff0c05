import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { isMainThread } from 'node:worker_threads';

import { neighbourHeader, queryOfNothing } from './neighbour-header.ts';

/**
 * Loaded into the service (`--import`). Prints on SIGUSR2 what it has seen since the last one, in processor time of the
 * main thread, which doesn't depend on what else the machine does:
 *
 * - the longest tick of the event loop. Timers fire once in a tick, so what the thread has used between two of them is
 *   at most one long tick and a few short ones;
 * - how much the thread has worked between the arrival of a neighbour's request and the end of its response: the p99.
 *   Of a query that reads nothing this is what the service itself makes it wait; of a page it also counts what the
 *   thread works for others while the database has the page, which is longer where the database waits for a core.
 */
if (isMainThread) {
  let [longestMillis, last] = [0, threadMillis()];
  let [waits, pages]: [number[], number[]] = [[], []];
  const arrivals = new WeakMap<IncomingMessage, number>();
  setInterval(() => {
    const now = threadMillis();
    longestMillis = Math.max(longestMillis, now - last);
    last = now;
  }, 5).unref();
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.headers[neighbourHeader] !== undefined) arrivals.set(request, threadMillis());
  });
  subscribe('http.server.response.finish', (message) => {
    const { request } = message as { readonly request: IncomingMessage };
    const arrivedAt = arrivals.get(request);
    if (arrivedAt === undefined || request.url === '/healthz') return;
    (request.url === queryOfNothing ? waits : pages).push(threadMillis() - arrivedAt);
  });
  process.on('SIGUSR2', () => {
    const figures = [longestMillis, highest(waits), highest(pages)].map(Math.round);
    process.stderr.write(`longest tick, wait and page in ms: ${figures.join(' ')}\n`);
    [longestMillis, waits, pages] = [0, [], []];
  });
}

/** The p99. */
function highest(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;
}

function threadMillis(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Of V8's space for new objects, which is twice the part that is in use: a larger one takes memory and saves nothing
 * measurable. Several collections in one tick of the event loop can pass it.
 */
const maxNewSpaceBytes = 32 * 1024 * 1024;

/**
 * Lets the heap grow by what the service needs, and no further. V8 would let its spaces grow with the machine's memory:
 * under load the process would take 400 MB, of which 50 are in use.
 *
 * The maximum size of the space for new objects is an option of the command line only, but its growth factor is read
 * before each growth.
 */
export function limitHeap(): void {
  // Objects of requests would be old from the start: see "Nothing holds a request longer than it runs" in DECISIONS.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Collected at twice the size that the last collection has left, instead of up to four times. With less, a full
  // collection each second stops a service on one core for longer than all else: its p99 is two to three times as long.
  setFlagsFromString('--heap-growing-percent=100');
  // Code that hasn't run for two minutes is discarded. V8 would discard it after six collections, which take six
  // seconds under load, and compile anew what is called less often.
  setFlagsFromString('--flush-code-based-on-time');
  setFlagsFromString('--bytecode-old-time=120');
  // While the modules are loaded, several collections follow each other before the first check.
  let growth = 1;
  setFlagsFromString(`--semi-space-growth-factor=${growth}`);
  new PerformanceObserver(() => {
    // V8 also makes it smaller, to any size.
    const needed = 2 * newSpaceBytes() <= maxNewSpaceBytes ? 2 : 1;
    if (needed !== growth) setFlagsFromString(`--semi-space-growth-factor=${needed}`);
    growth = needed;
  }).observe({ entryTypes: ['gc'] });
}

function newSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}

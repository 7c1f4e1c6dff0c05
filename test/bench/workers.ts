import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

import { load } from './load.ts';
import type { LoadResult } from './load-process.ts';
import {
  childrenOf,
  cpuMicrosOf,
  cpuMicrosOfAll,
  idleMicros,
  type MeasuredProcess,
  proportionalMegabytes,
} from './measured-process.ts';
import { createKeysFor, startService } from './measured-service.ts';
import { layOut, median, throughput } from './report.ts';
import { keysFor, rotated, showProgress, type RoundOptions } from './rounds.ts';
import type { StoreSize, Workload } from './workloads.ts';

/** One process; two that know nothing of each other, each with half of the connections; two workers of one command. */
const targets = ['one process', 'two unconnected', 'two workers'] as const;
type Target = (typeof targets)[number];

const startMillis = 5_000;

interface Result extends LoadResult {
  readonly cpuMicros: number;
  /** Of the primary, in the processor time of all. */
  readonly primaryShare: number;
}

/** The processor time, of all processes, of a request to one process and to two; and what they take at rest. */
export async function benchWorkers(
  options: RoundOptions & { readonly processes: number },
  store: StoreSize,
  databaseUrl: string,
): Promise<string> {
  const results = new Map<string, Result[]>();
  let memory = '';
  for (let left = options.processes; left > 0; left -= 1) {
    const cores = `${(await quietCores()).toFixed(1)} of ${availableParallelism()} cores were quiet`;
    process.stderr.write(`processes to go: ${left}; ${cores}\n`);
    const started = await startTargets(databaseUrl);
    // The second worker starts after the first.
    await wait(startMillis);
    try {
      memory = `${cores}; ${restingMemory(started)}`;
      await measure(started, options, store, results);
    } finally {
      await Promise.all(
        Object.values(started)
          .flat()
          .map((server) => server.stop()),
      );
    }
  }
  return `${tableOf(options.chosen, results)}\n\n${memory}`;
}

type Started = Readonly<Record<Target, readonly MeasuredProcess[]>>;

async function startTargets(databaseUrl: string): Promise<Started> {
  const start = (settings: Readonly<Record<string, string>> = {}): Promise<MeasuredProcess> =>
    startService({ DATABASE_URL: databaseUrl, DATABASE_POOL: '10', ...settings });
  return {
    'one process': [await start()],
    'two unconnected': [await start(), await start()],
    'two workers': [await start({ WORKERS: '2', DATABASE_POOL: '20' })],
  };
}

function restingMemory(started: Started): string {
  const [one] = started['one process'];
  const [primary] = started['two workers'];
  const workers = childrenOf(primary!.pid).map((pid) => proportionalMegabytes(pid).toFixed(0));
  const megabytes = (pid: number): string => `${proportionalMegabytes(pid).toFixed(0)} MB`;
  return `at rest: one process ${megabytes(one!.pid)}, the primary ${megabytes(primary!.pid)}, its workers ${workers.join(' and ')} MB`;
}

async function measure(
  started: Started,
  options: RoundOptions,
  store: StoreSize,
  results: Map<string, Result[]>,
): Promise<void> {
  const keys = await createKeysFor(options.chosen, started['one process'][0]!.address);
  // The first rounds are for V8 to compile what they run.
  for (let round = -1; round < options.rounds; round += 1) {
    for (const workload of options.chosen) {
      for (const target of rotated(targets, round + targets.length)) {
        showProgress(`round ${round + 1} of ${options.rounds}: ${workload.name} ${target}`);
        const seconds = round < 0 ? 4 * options.seconds : options.seconds;
        const result = await loadOn(started[target], workload, { ...options, seconds }, store, keys);
        const name = `${workload.name} ${target}`;
        if (round >= 0) results.set(name, [...(results.get(name) ?? []), result]);
      }
    }
  }
  showProgress('');
}

let nextNumber = 1;

async function loadOn(
  servers: readonly MeasuredProcess[],
  workload: Workload,
  { connections, seconds }: Pick<RoundOptions, 'connections' | 'seconds'>,
  store: StoreSize,
  keys: readonly string[],
): Promise<Result> {
  const cpuOf = (read: (pid: number) => number): number => servers.reduce((sum, { pid }) => sum + read(pid), 0);
  const [all, own] = [cpuOf(cpuMicrosOfAll), cpuOf(cpuMicrosOf)];
  const result = await load({
    requests: 'service',
    workload: workload.name,
    store,
    connections,
    seconds,
    addresses: servers.map(({ address }) => address),
    from: nextNumber,
    keys: keysFor(workload, keys),
  });
  nextNumber += result.requests + 1;
  const cpuMicros = cpuOf(cpuMicrosOfAll) - all;
  return { ...result, cpuMicros: cpuMicros / result.requests, primaryShare: (cpuOf(cpuMicrosOf) - own) / cpuMicros };
}

/** Processor time of the two workers beside that of the two unconnected ones is the median of the rounds' own ratios. */
function tableOf(chosen: readonly Workload[], results: ReadonlyMap<string, readonly Result[]>): string {
  const rows = chosen.flatMap(({ name }) =>
    targets.map((target) => {
      const rounds = results.get(`${name} ${target}`)!;
      const others = results.get(`${name} two unconnected`)!;
      const of = (value: (round: Result) => number): number => median(rounds.map(value));
      const ratio = median(rounds.map(({ cpuMicros }, round) => cpuMicros / others[round]!.cpuMicros));
      return [
        `${name} ${target}`,
        of(({ cpuMicros }) => cpuMicros).toFixed(0),
        ratio.toFixed(2),
        target === 'two workers' ? `${(100 * of(({ primaryShare }) => primaryShare)).toFixed(1)} %` : '',
        of(throughput).toFixed(0),
        of(({ p99 }) => p99).toFixed(1),
      ];
    }),
  );
  return layOut([['', 'CPU µs', '× unconnected', 'the primary', 'requests/s', 'p99 ms'], ...rows]);
}

/** In the second that it looks: how many cores do nothing. */
async function quietCores(): Promise<number> {
  const before = idleMicros();
  await wait(1_000);
  return (idleMicros() - before) / 1_000_000;
}

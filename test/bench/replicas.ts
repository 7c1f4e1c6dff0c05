import { setTimeout as wait } from 'node:timers/promises';

import { connect } from '../support/postgres-client.ts';
import type { PostgresCluster } from '../support/postgres-cluster.ts';
import { load } from './load.ts';
import type { LoadResult } from './load-process.ts';
import { cpuMicrosOfAll, type MeasuredProcess } from './measured-process.ts';
import { createKeysFor, startService } from './measured-service.ts';
import { layOut, median, throughput } from './report.ts';
import { keysFor, rotated, showProgress, type RoundOptions } from './rounds.ts';
import type { StoreSize, Workload } from './workloads.ts';

/** How many standbys serve reads. */
const targets = [0, 1, 2] as const;
const writesPerSecond = 500;
/** For the first check of the standbys. */
const startMillis = 2_000;
/** In which no request is sent, to know what is no request's. */
const idleSeconds = 5;

interface Result extends LoadResult {
  /** Microseconds of a request. */
  readonly ofPrimary: number;
  readonly ofStandbys: number;
  readonly ofService: number;
}

/** Processor time of a read, of the primary, its standbys and the service; and how long it takes, also beside writes. */
export async function benchReplicas(
  options: RoundOptions,
  store: StoreSize,
  primary: PostgresCluster,
): Promise<string> {
  const standbys = [await primary.addStandby(), await primary.addStandby()];
  const services: MeasuredProcess[] = [];
  try {
    for (const count of targets) services.push(await startWith(primary, standbys.slice(0, count)));
    await wait(startMillis);
    const idle = await idleMillis(primary);
    const started = { primary, standbys, services };
    const closed = await measure(options, store, started);
    const atRate = await measure(options, store, started, halfOf(closed));
    const stop = write(primary);
    const busy = await measure(options, store, started);
    await stop();
    const ofIdle = `Of the primary's time ${idle.toFixed(0)} ms a second are what the three services take without requests.`;
    return [
      tableOf(options.chosen, closed),
      ofIdle,
      'at a fixed rate of half of what the service takes without standbys:',
      tableOf(options.chosen, atRate),
      `beside ${writesPerSecond} writes a second:`,
      tableOf(options.chosen, busy),
    ].join('\n\n');
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    for (const standby of standbys) standby.remove();
  }
}

/** The primary's processor time in a second without requests. */
async function idleMillis({ pid }: PostgresCluster): Promise<number> {
  const before = cpuMicrosOfAll(pid);
  await wait(idleSeconds * 1_000);
  return (cpuMicrosOfAll(pid) - before) / 1_000 / idleSeconds;
}

function startWith(primary: PostgresCluster, standbys: readonly PostgresCluster[]): Promise<MeasuredProcess> {
  const hosts = standbys.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return startService({ DATABASE_URL: primary.url, DATABASE_REPLICAS: hosts });
}

interface Started {
  readonly primary: PostgresCluster;
  readonly standbys: readonly PostgresCluster[];
  /** One for each number of standbys. */
  readonly services: readonly MeasuredProcess[];
}

type Results = ReadonlyMap<string, readonly Result[]>;

/** Requests per second. */
type Rate = (workload: Workload) => number;

function halfOf(results: Results): Rate {
  return (workload) => Math.round(median(results.get(nameOf(workload, 0))!.map(throughput)) / 2);
}

/** In a closed loop, or at this rate, where p50 and p99 are what clients see on a server that isn't saturated. */
async function measure(options: RoundOptions, store: StoreSize, started: Started, rate?: Rate): Promise<Results> {
  const results = new Map<string, Result[]>();
  const keys = await createKeysFor(options.chosen, started.services[0]!.address);
  // The first round is for V8 to compile what it runs.
  for (let round = -1; round < options.rounds; round += 1) {
    for (const workload of options.chosen) {
      for (const target of rotated(targets, round + targets.length)) {
        showProgress(`round ${round + 1} of ${options.rounds}: ${workload.name}, ${target} standbys`);
        const result = await loadOn(target, workload, options, store, { ...started, keys, rate });
        const name = nameOf(workload, target);
        if (round >= 0) results.set(name, [...(results.get(name) ?? []), result]);
      }
    }
  }
  showProgress('');
  return results;
}

function nameOf({ name }: Workload, target: number): string {
  return `${name}, ${target} standbys`;
}

let nextNumber = 1;

async function loadOn(
  target: number,
  workload: Workload,
  { connections, seconds }: RoundOptions,
  store: StoreSize,
  {
    primary,
    standbys,
    services,
    keys,
    rate,
  }: Started & { readonly keys: readonly string[]; readonly rate?: Rate | undefined },
): Promise<Result> {
  const service = services[target]!;
  const times = (): readonly number[] => [
    cpuMicrosOfAll(primary.pid),
    standbys.reduce((sum, { pid }) => sum + cpuMicrosOfAll(pid), 0),
    service.cpuMicros,
  ];
  const before = times();
  const result = await load({
    requests: 'service',
    workload: workload.name,
    store,
    connections,
    seconds,
    arrivalsPerSecond: rate?.(workload),
    addresses: [service.address],
    from: nextNumber,
    keys: keysFor(workload, keys),
  });
  nextNumber += result.requests + 1;
  const [ofPrimary, ofStandbys, ofService] = times().map((time, n) => (time - before[n]!) / result.requests);
  return { ...result, ofPrimary: ofPrimary!, ofStandbys: ofStandbys!, ofService: ofService! };
}

/** Writes past the service, at a constant rate, until the function that it returns is called. */
function write(primary: PostgresCluster): () => Promise<void> {
  const over = new AbortController();
  const writing = (async () => {
    const client = await connect(primary.url);
    const startedAt = performance.now();
    for (let written = 0; !over.signal.aborted; written += 1) {
      await wait(Math.max(0, startedAt + (written * 1_000) / writesPerSecond - performance.now()));
      await client.query('update categories set name = name where id = $1', [(written % 50) + 1]);
    }
    await client.end();
  })();
  return () => {
    over.abort();
    return writing;
  };
}

function tableOf(chosen: readonly Workload[], results: Results): string {
  const rows = chosen.flatMap((workload) =>
    targets.map((target) => {
      const rounds = results.get(nameOf(workload, target))!;
      const of = (value: (round: Result) => number, digits = 0): string => median(rounds.map(value)).toFixed(digits);
      return [
        nameOf(workload, target),
        of(({ ofPrimary }) => ofPrimary),
        of(({ ofStandbys }) => ofStandbys),
        of(({ ofService }) => ofService),
        of(throughput),
        of(({ p50 }) => p50, 2),
        of(({ p99 }) => p99, 2),
      ];
    }),
  );
  const headings = ['µs of a request', 'primary', 'standbys', 'service', 'requests/s', 'p50 ms', 'p99 ms'];
  return layOut([headings, ...rows]);
}

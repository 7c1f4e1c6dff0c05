import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { cores, cpuMicrosOfAll, MeasuredProcess, pin, pinned } from './measured-process.ts';
import { createKeysFor, mainOf, root, startService } from './measured-service.ts';
import { databaseBeside, fillStore } from './filled-store.ts';
import { printTable, type Measured } from './report.ts';
import { benchReplicas } from './replicas.ts';
import { benchScale } from './scale.ts';
import { benchWorkers } from './workers.ts';
import { type DatabaseTime, emptyResults, Rounds, type RoundOptions, type Server, type Servers } from './rounds.ts';
import { smallestStore, workloads, type StoreSize, type Workload } from './workloads.ts';

const usage = `usage: npm run bench -- [workers|replicas|scale] [--pets 100000] [--only G1,R2] [--seconds 2] [--rounds 2] [--processes 3] [--connections 32] [--against FOLDER] [--million]

Measures the service, with its default settings, a key and a quota, against the limit: in a closed loop, and under a fixed
arrival rate of half of what the service takes. The database is a PostgreSQL server of its own, or that of BENCH_DATABASE_URL:
an empty one is filled with so many pets, a filled one is used as it is. Then the memory of the service.
Processes of one build differ by up to 15 %: the rounds are repeated with --processes new ones of each, and the medians count.
The fixed arrival rate and memory are those of the last process.
--only takes the workloads G1 G2 G2L G3 G3V G4 G4L G4I R1 R2 R3 R3I U1, most of them with a K behind for a thousand keys (G1K), COLD (new documents) and MANY (500 documents, one after another).
--against measures another build too, in the same rounds: the built work tree of another version, with a database of its own beside the other.
With \`workers\` the service with WORKERS=2 is measured against one process and against two that aren't connected: processor time of all processes, and memory.
With \`replicas\` the service with no, one and two standbys, in a closed loop, at half of its rate, and beside writes: processor time of a request on the primary, its standbys and the service.
With \`scale\` the response times of requests whose time may depend on the number of rows, with --pets beside 100,000; the databases scale_N are kept on a server of BENCH_DATABASE_URL.
--million shows the memory after a million requests too, of the chosen reads one after another, which takes minutes.`;

interface Options extends RoundOptions {
  readonly pets: number | undefined;
  /** How many of each target are started, one after another. */
  readonly processes: number;
  readonly against: string | undefined;
  readonly withMillion: boolean;
  readonly isOfWorkers: boolean;
  readonly isOfReplicas: boolean;
  readonly isOfScale: boolean;
}

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      pets: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '2' },
      processes: { type: 'string', default: '3' },
      connections: { type: 'string', default: '32' },
      against: { type: 'string' },
      million: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.toUpperCase().split(',');
  const chosen = workloads.filter(({ name }) => names === undefined || names.includes(name));
  const { seconds, rounds, processes, connections } = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    processes: Number(values.processes),
    connections: Number(values.connections),
  };
  const pets = values.pets === undefined ? undefined : Number(values.pets);
  const isStorePossible = pets === undefined || (Number.isInteger(pets) && pets >= smallestStore.pets);
  const isChoicePossible = values.million ? chosen.some(({ isWrite }) => !isWrite) : chosen.length > 0;
  const isPossible =
    isStorePossible &&
    isChoicePossible &&
    seconds > 0 &&
    [rounds, processes, connections].every((count) => Number.isInteger(count) && count >= 1);
  if (values.help || !isPossible) {
    process.stderr.write(`${usage}\n`);
    process.exit(values.help ? 0 : 2);
  }
  const { against, million: withMillion } = values;
  const [isOfWorkers, isOfReplicas, isOfScale] = ['workers', 'replicas', 'scale'].map((name) =>
    positionals.includes(name),
  ) as [boolean, boolean, boolean];
  return {
    pets,
    chosen,
    seconds,
    rounds,
    processes,
    connections,
    against,
    withMillion,
    isOfWorkers,
    isOfReplicas,
    isOfScale,
  };
}

/** The command on the cores for servers. */
function onServerCores(...command: readonly string[]): readonly string[] {
  return pinned([process.execPath, ...command], cores?.server);
}

/** Starts the build in the folder, with the keys that the workloads need. */
async function startBuild(folder: string, databaseUrl: string, chosen: readonly Workload[]): Promise<Server> {
  const service = await startService({ DATABASE_URL: databaseUrl }, onServerCores(mainOf(folder)));
  return { process: service, keys: await createKeysFor(chosen, service.address) };
}

async function startLimit(databaseUrl: string): Promise<Server> {
  const command = onServerCores(join(import.meta.dirname, 'limit-process.ts'), databaseUrl);
  return { process: await MeasuredProcess.start(command, { NODE_ENV: 'production' }), keys: [] };
}

/** Fills the database of the other build, and returns its URL. */
async function fillOther(folder: string, databaseUrl: string, store: StoreSize): Promise<string> {
  const ownDatabaseUrl = await databaseBeside(databaseUrl);
  const { pets } = await fillStore(ownDatabaseUrl, store.pets, folder);
  if (pets !== store.pets) throw new Error(`The other build's database has ${pets} pets, not ${store.pets}.`);
  return ownDatabaseUrl;
}

async function bench(options: Options, databaseUrl: string, cluster?: PostgresCluster): Promise<void> {
  if (options.isOfScale) {
    const sizes = new Set([100_000, options.pets ?? 100_000]);
    process.stdout.write(`${await benchScale([...sizes], databaseUrl)}\n`);
    return;
  }
  process.stderr.write('filling the store\n');
  const store = await fillStore(databaseUrl, options.pets, root);
  if (options.isOfWorkers) {
    process.stdout.write(`${store.pets} pets\n\n${await benchWorkers(options, store, databaseUrl)}\n`);
    return;
  }
  if (options.isOfReplicas) {
    if (cluster === undefined)
      throw new Error('Standbys are made of a server of its own: leave BENCH_DATABASE_URL out.');
    process.stdout.write(`${store.pets} pets\n\n${await benchReplicas(options, store, cluster)}\n`);
    return;
  }
  const { against } = options;
  const databaseTime: DatabaseTime = cluster && (() => cpuMicrosOfAll(cluster.pid));
  const otherUrl = against === undefined ? undefined : await fillOther(against, databaseUrl, store);
  const results = emptyResults(options.chosen);
  let memory = '';
  for (let left = options.processes; left > 0; left -= 1) {
    process.stderr.write(`processes to go: ${left}\n`);
    const servers = {
      against: otherUrl === undefined ? undefined : await startBuild(against!, otherUrl, options.chosen),
      service: await startBuild(root, databaseUrl, options.chosen),
      limit: await startLimit(databaseUrl),
    };
    try {
      memory = await measure(servers, new Rounds(servers, store, databaseTime), results, options, left === 1);
    } finally {
      await Promise.all(Object.values(servers).map(async (server) => server?.process.stop()));
    }
  }
  process.stdout.write(`${store.pets} pets\n\n${printTable(results)}\n\nmemory of the service: ${memory}\n`);
}

/** Adds to the results; returns the memory of the service. */
async function measure(
  servers: Servers,
  rounds: Rounds,
  results: readonly Measured[],
  options: Options,
  isLast: boolean,
): Promise<string> {
  const memory: string[] = [];
  const noteMemory = (when: string): void => {
    memory.push(`${servers.service.process.residentMegabytes.toFixed(0)} MB ${when}`);
  };
  noteMemory('at rest');
  await rounds.measure(results, options);
  if (isLast) await rounds.measureAtRate(results, options);
  noteMemory('after the load');
  if (isLast && options.withMillion) {
    await rounds.keepReading(options, 1_000_000);
    noteMemory('after a further million requests');
  }
  return memory.join(', ');
}

const options = readOptions();
const databaseUrl = process.env['BENCH_DATABASE_URL'];
if (databaseUrl === undefined) {
  const cluster = await PostgresCluster.create();
  pin(cluster.pid, cores?.database);
  try {
    await bench(options, cluster.url, cluster);
  } finally {
    cluster.remove();
  }
} else {
  await bench(options, databaseUrl);
}

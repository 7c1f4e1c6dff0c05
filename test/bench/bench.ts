import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual, parseArgs } from 'node:util';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import type { LoadJob, LoadResult } from './load-process.ts';
import { cores, MeasuredProcess, pin, pinned } from './measured-process.ts';
import { fillStore } from './filled-store.ts';
import { measureInstalledSize } from './installed-size.ts';
import { summarizeProfiles } from './profile.ts';
import { printTable, type Measured, type Measurement } from './report.ts';
import { measureStartUp } from './start-up.ts';
import { partOf, smallestStore, workloads, type LoadRequest, type StoreSize, type Workload } from './workloads.ts';

const usage = `usage: npm run bench -- [--pets 100000] [--only G1,R2] [--seconds 2] [--rounds 3] [--connections 32] [--million] [--profile]

Measures the service against the limit, on a PostgreSQL server of its own, or on the database of BENCH_DATABASE_URL: an empty one
is filled with so many pets, a filled one is used as it is. Then how soon the service starts and what it takes of memory and disk.
--million tells the memory after a million requests too, of the chosen reads in turn, which takes minutes.
--profile says in which packages the service spends its time; it slows the service down.`;

interface Options {
  readonly pets: number | undefined;
  readonly chosen: readonly Workload[];
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly withMillion: boolean;
  readonly withProfile: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      pets: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '32' },
      million: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.toUpperCase().split(',');
  const chosen = workloads.filter(({ name }) => names === undefined || names.includes(name));
  const [seconds, rounds, connections] = [values.seconds, values.rounds, values.connections].map(Number) as [
    number,
    number,
    number,
  ];
  const pets = values.pets === undefined ? undefined : Number(values.pets);
  const isStorePossible = pets === undefined || (Number.isInteger(pets) && pets >= smallestStore);
  const isChoicePossible = values.million ? chosen.some(isRead) : chosen.length > 0;
  const isPossible = isStorePossible && isChoicePossible && seconds > 0 && rounds >= 1 && connections >= 1;
  if (values.help || !isPossible) {
    process.stderr.write(`${usage}\n`);
    process.exit(values.help ? 0 : 2);
  }
  return { pets, chosen, seconds, rounds, connections, withMillion: values.million, withProfile: values.profile };
}

function isRead({ isWrite }: Workload): boolean {
  return !isWrite;
}

type Target = 'service' | 'limit';
type Servers = Readonly<Record<Target, MeasuredProcess>>;

const main = join(import.meta.dirname, '../../dist/src/main.js');
const adminKey = 'bench-admin-key-that-nobody-else-has';
let nextNumber = 1;
let headers: Readonly<Record<string, string>> = {};

async function run(command: readonly string[], environment: NodeJS.ProcessEnv, input = ''): Promise<string> {
  const child = spawn(command[0]!, command.slice(1), { env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`${command.join(' ')} has ended with ${String(code)}.`);
  return output;
}

type Run = Omit<LoadJob, 'address' | 'from' | 'headers'>;

async function load(server: MeasuredProcess, job: Run): Promise<Measurement> {
  const before = server.cpuMicros;
  const input: LoadJob = { ...job, address: server.address, from: nextNumber, headers };
  const command = pinned([process.execPath, join(import.meta.dirname, 'load-process.ts')], cores?.load);
  const result = JSON.parse(await run(command, process.env, JSON.stringify(input))) as LoadResult;
  nextNumber += result.requests + 1;
  if (result.failure !== undefined) throw new Error(`${job.workload} of the ${job.target}: ${result.failure}`);
  return { ...result, cpuMicros: (server.cpuMicros - before) / result.requests };
}

/** Both have to answer with the same data, or the comparison says nothing. */
async function expectSameData(workload: Workload, servers: Servers, store: StoreSize): Promise<void> {
  const ask = async (target: Target, request: LoadRequest): Promise<unknown> => {
    const response = await fetch(servers[target].address + request.path, {
      method: request.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: request.body ?? null,
    });
    return response.json();
  };
  const part = partOf(store, nextNumber++);
  const answers = [await ask('service', workload.service(part)), await ask('limit', workload.limit(part))].map(
    withoutNewId(workload),
  );
  if (!isDeepStrictEqual(answers[0], answers[1])) {
    throw new Error(
      `${workload.name} differs:\nservice ${JSON.stringify(answers[0])}\nlimit   ${JSON.stringify(answers[1])}`,
    );
  }
}

/** What is created twice has two ids. */
function withoutNewId({ isWrite }: Workload): (answer: unknown) => unknown {
  const isId = (key: string): boolean => isWrite && key === 'id';
  return (answer) => JSON.parse(JSON.stringify(answer, (key, value: unknown) => (isId(key) ? '' : value)));
}

/** A key whose quota never runs out, so that it is only counted. */
async function createKey(service: MeasuredProcess): Promise<string> {
  const input = 'name: "Bench", plan: ENTERPRISE, requestsPerMinute: 1000000000, requestsPerDay: 1000000000';
  const response = await fetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ query: `mutation { createApiKey(input: { ${input} }) { secret } }` }),
  });
  const { data } = (await response.json()) as { data: { createApiKey: { secret: string } } };
  return data.createApiKey.secret;
}

/** For so long V8 compiles the service for a workload, which takes a multiple of the processor time; the limit has little to compile. */
const warmUpSeconds = { service: 3, limit: 0.5 };

async function measure(servers: Servers, store: StoreSize, options: Options): Promise<Measured[]> {
  const { chosen, rounds, seconds, connections } = options;
  const results = chosen.map((workload) => ({ workload, service: [] as Measurement[], limit: [] as Measurement[] }));
  for (const { workload } of results) {
    await expectSameData(workload, servers, store);
    for (const target of ['service', 'limit'] as const) {
      process.stderr.write(`\rwarming up: ${workload.name} ${target.padEnd(8)}`);
      const warmUp = Math.min(warmUpSeconds[target], 2 * seconds);
      await load(servers[target], { target, workload: workload.name, store, connections, seconds: warmUp });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { workload, ...measured } of results) {
      for (const target of ['service', 'limit'] as const) {
        process.stderr.write(`\rround ${round + 1} of ${rounds}: ${workload.name} ${target.padEnd(8)}`);
        const job = { target, workload: workload.name, store, connections, seconds };
        measured[target].push(await load(servers[target], job));
      }
    }
  }
  process.stderr.write('\r'.padEnd(40) + '\r');
  return results;
}

/** The chosen reads in turn, until the service has answered so many requests. */
async function keepReading(
  service: MeasuredProcess,
  store: StoreSize,
  { chosen, connections }: Options,
  requests: number,
): Promise<void> {
  const reads = chosen.filter(isRead);
  let left = requests;
  for (let turn = 0; left > 0; turn += 1) {
    process.stderr.write(`\r${left} requests to go`.padEnd(40));
    const { name } = reads[turn % reads.length]!;
    left -= (await load(service, { target: 'service', workload: name, store, connections, seconds: 5 })).requests;
  }
  process.stderr.write('\r'.padEnd(40) + '\r');
}

function print(lines: string): void {
  process.stdout.write(`${lines}\n`);
}

async function bench(options: Options, databaseUrl: string): Promise<void> {
  process.stderr.write('filling the store\n');
  const store = await fillStore(databaseUrl, options.pets);
  const profiles = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  const profiling = options.withProfile ? ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profiles}`] : [];
  const start = (command: readonly string[], environment: Readonly<Record<string, string>>): Promise<MeasuredProcess> =>
    MeasuredProcess.start(pinned([process.execPath, ...command], cores?.server), {
      NODE_ENV: 'production',
      ...environment,
    });
  const servers: Servers = {
    service: await start([...profiling, main], {
      DATABASE_URL: databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ADMIN_API_KEY: adminKey,
    }),
    limit: await start([join(import.meta.dirname, 'limit-process.ts'), databaseUrl], {}),
  };
  const { service } = servers;
  const memory = [`${service.residentMegabytes.toFixed(0)} MB at rest`];
  try {
    headers = { authorization: `Bearer ${await createKey(service)}` };
    const results = await measure(servers, store, options);
    memory.push(`${service.residentMegabytes.toFixed(0)} MB after the load`);
    print(`${store.pets} pets\n\n${printTable(results)}\n`);
    if (options.withMillion) {
      await keepReading(service, store, options, 1_000_000);
      memory.push(`${service.residentMegabytes.toFixed(0)} MB after a million requests more`);
    }
  } finally {
    await Promise.all([servers.service.stop(), servers.limit.stop()]);
  }
  print(`memory of the service: ${memory.join(', ')}`);
  if (options.withProfile) print(`\nwhere the service spends its time:\n${summarizeProfiles(profiles)}`);
  rmSync(profiles, { recursive: true });
}

async function printStartUpAndSize(): Promise<void> {
  const millis = await measureStartUp([process.execPath, main]);
  print(`first answer on an embedded store that is there already: ${(millis / 1000).toFixed(2)} s after the start`);
  const { packages, program, largest } = measureInstalledSize();
  const names = largest.map(({ path, megabytes }) => `${path} ${megabytes.toFixed(0)}`);
  print(`installed: ${packages.toFixed(0)} MB of packages (${names.join(', ')}), ${program.toFixed(0)} MB of program`);
}

const options = readOptions();
const given = process.env['BENCH_DATABASE_URL'];
if (given === undefined) {
  const cluster = await PostgresCluster.create();
  pin(cluster.pid, cores?.database);
  try {
    await bench(options, cluster.url);
  } finally {
    cluster.remove();
  }
} else {
  await bench(options, given);
}
await printStartUpAndSize();

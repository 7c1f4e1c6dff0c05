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
import { summarizeProfiles } from './profile.ts';
import { printTable, type Measured, type Measurement } from './report.ts';
import { storeSize, workloads, type LoadRequest, type Workload } from './workloads.ts';

const usage = `usage: npm run bench -- [--only G1,R2] [--seconds 2] [--rounds 3] [--connections 32] [--profile]

Measures the service against the limit, on a PostgreSQL server of its own, or on the empty database of BENCH_DATABASE_URL.
--profile says in which packages the service spends its time; it slows the service down.`;

interface Options {
  readonly chosen: readonly Workload[];
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  readonly withProfile: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '32' },
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
  if (values.help || chosen.length === 0 || !(seconds > 0 && rounds >= 1 && connections >= 1)) {
    process.stderr.write(`${usage}\n`);
    process.exit(values.help ? 0 : 2);
  }
  return { chosen, seconds, rounds, connections, withProfile: values.profile };
}

type Target = 'service' | 'limit';
type Servers = Readonly<Record<Target, MeasuredProcess>>;

const main = join(import.meta.dirname, '../../dist/src/main.js');
const seed = join(import.meta.dirname, '../../dist/src/cli/seed.js');
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

async function load(server: MeasuredProcess, job: Omit<LoadJob, 'address' | 'from' | 'headers'>): Promise<Measurement> {
  const before = server.cpuMicros;
  const input: LoadJob = { ...job, address: server.address, from: nextNumber, headers };
  const command = pinned([process.execPath, join(import.meta.dirname, 'load-process.ts')], cores?.load);
  const result = JSON.parse(await run(command, process.env, JSON.stringify(input))) as LoadResult;
  nextNumber += result.requests + 1;
  if (result.failure !== undefined) throw new Error(`${job.workload} of the ${job.target}: ${result.failure}`);
  return { ...result, cpuMicros: (server.cpuMicros - before) / result.requests };
}

/** Both have to answer with the same data, or the comparison says nothing. */
async function expectSameData(workload: Workload, servers: Servers): Promise<void> {
  const ask = async (target: Target, request: LoadRequest): Promise<unknown> => {
    const response = await fetch(servers[target].address + request.path, {
      method: request.method,
      headers: { 'content-type': 'application/json', ...headers },
      body: request.body ?? null,
    });
    return response.json();
  };
  const n = nextNumber++;
  const answers = [await ask('service', workload.service(n)), await ask('limit', workload.limit(n))].map(
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

async function measure(servers: Servers, options: Options): Promise<Measured[]> {
  const { chosen, rounds, seconds, connections } = options;
  const results = chosen.map((workload) => ({ workload, service: [] as Measurement[], limit: [] as Measurement[] }));
  const warmUpSeconds = Math.min(1, seconds);
  for (const { workload } of results) {
    await expectSameData(workload, servers);
    for (const target of ['service', 'limit'] as const) {
      await load(servers[target], { target, workload: workload.name, connections, seconds: warmUpSeconds });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { workload, ...measured } of results) {
      for (const target of ['service', 'limit'] as const) {
        process.stderr.write(`\rround ${round + 1} of ${rounds}: ${workload.name} ${target.padEnd(8)}`);
        measured[target].push(await load(servers[target], { target, workload: workload.name, connections, seconds }));
      }
    }
  }
  process.stderr.write('\r'.padEnd(40) + '\r');
  return results;
}

async function bench(options: Options, databaseUrl: string): Promise<void> {
  process.stderr.write('filling the store\n');
  const environment = { ...process.env, NODE_ENV: 'production', DATABASE_URL: databaseUrl };
  const counts = Object.entries(storeSize).flatMap(([name, count]) => [`--${name}`, String(count)]);
  await run([process.execPath, seed, ...counts], environment);
  const profiles = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  const profiling = options.withProfile ? ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profiles}`] : [];
  const servers: Servers = {
    service: await MeasuredProcess.start([process.execPath, ...profiling, main], {
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ADMIN_API_KEY: adminKey,
    }),
    limit: await MeasuredProcess.start([process.execPath, join(import.meta.dirname, 'limit-process.ts'), databaseUrl], {
      NODE_ENV: 'production',
    }),
  };
  const restMegabytes = servers.service.residentMegabytes;
  try {
    headers = { authorization: `Bearer ${await createKey(servers.service)}` };
    const results = await measure(servers, options);
    process.stdout.write(`${printTable(results)}\n\n`);
    process.stdout.write(
      `memory of the service: ${restMegabytes.toFixed(0)} MB at rest, ${servers.service.residentMegabytes.toFixed(0)} MB after the load\n`,
    );
  } finally {
    await Promise.all([servers.service.stop(), servers.limit.stop()]);
  }
  if (options.withProfile)
    process.stdout.write(`\nwhere the service spends its time:\n${summarizeProfiles(profiles)}\n`);
  rmSync(profiles, { recursive: true });
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

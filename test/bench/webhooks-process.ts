/*
 * What webhooks take, and what requests beside them see:
 *
 *   npm run -s build && node test/bench/webhooks-process.ts [seconds [rounds]]
 *
 * First 500 deliveries a second to 10 endpoints: from the commit to the receiver, and the processor time of each
 * process. Then requests at a fixed rate, in turn without endpoints, beside 500 of which 400 are dead (200 refuse
 * connections, and 200 never respond), and to a process without webhooks while another one delivers to the same 500:
 * what differs there is what receivers, database and load take from each other.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { load } from './load.ts';
import type { LoadJob, LoadResult } from './load-process.ts';
import { cores, cpuMicrosOf, cpuMicrosOfAll, type MeasuredProcess, pin, pinned } from './measured-process.ts';
import { adminKey, createKey, mainOf, root, startService } from './measured-service.ts';
import { median } from './report.ts';

const seconds = Number(process.argv[2] ?? 10);
const rounds = Number(process.argv[3] ?? 5);
const closedPort = 1;
const categories = 50;

const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(directory, name)) as [string, string];
const addresses = Array.from({ length: 250 }, (_, index) => `127.0.1.${index + 1}`);
const names = addresses.map((address) => `IP:${address}`).join(',');
const options = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bench -addext subjectAltName=${names}`;
execFileSync('openssl', [...options.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' });

const [command, ...parameters] = pinned(
  [process.execPath, join(import.meta.dirname, 'webhook-receivers-process.ts'), key, cert],
  cores?.load,
);
const receivers = spawn(command!, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: receivers.stdout })[Symbol.asyncIterator]();
const { port } = new URL((await lines.next()).value as string);

const cluster = await PostgresCluster.create();
pin(cluster.pid, cores?.database);
const store = await fillStore(cluster.url, 10_000, root);
const main = [process.execPath, mainOf(root)];
const database = { DATABASE_URL: cluster.url, LOG_LEVEL: 'warn' };
const service = await startService(
  {
    ...database,
    WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
    WEBHOOK_ALLOW: '127.0.0.0/8',
    WEBHOOK_PORTS: `${port},${closedPort}`,
    NODE_EXTRA_CA_CERTS: cert,
  },
  pinned(main, cores?.server),
);
const withoutWebhooks = await startService(database, pinned(main, cores?.server));
const sql = await connect(cluster.url);
const loadKey = await createKey(service.address);

async function createEndpoint(url: string): Promise<void> {
  const query = 'mutation ($url: String!) { createWebhookEndpoint(input: { url: $url }) { secret } }';
  const response = await fetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { url } }),
  });
  const { errors } = (await response.json()) as { errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
}

/** The latencies of deliveries since the last call. */
async function takeLatencies(): Promise<number[]> {
  receivers.stdin.write('\n');
  return JSON.parse((await lines.next()).value as string) as number[];
}

/** Changes so many objects a second, each of which says when. */
async function change(perSecond: number, forSeconds: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  for (; count < perSecond * forSeconds; count += 1) {
    await sleep(Math.max(0, startedAt + (count * 1_000) / perSecond - performance.now()));
    const id = 1 + (count % categories);
    await sql.query('update categories set description = $1 where id = $2', [String(Date.now()), id]);
  }
  return count;
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? NaN;
}

/** Microseconds so far. */
function times(): Record<'service' | 'postgres' | 'receivers', number> {
  return {
    service: service.cpuMicros,
    postgres: cpuMicrosOfAll(cluster.pid),
    receivers: cpuMicrosOf(receivers.pid!),
  };
}

async function measureDeliveries(): Promise<void> {
  for (let index = 0; index < 10; index += 1) await createEndpoint(`https://${addresses[index]}:${port}/good`);
  await change(20, 3);
  await sleep(2_000);
  await takeLatencies();
  const before = times();
  const changes = await change(50, seconds);
  await sleep(3_000);
  const latencies = await takeLatencies();
  const perDelivery = (name: keyof typeof before, after = times()): number =>
    Math.round((after[name] - before[name]) / latencies.length);
  console.log({
    deliveries: latencies.length,
    expected: changes * 10,
    perSecond: Math.round(latencies.length / seconds),
    millis: [0.5, 0.99, 1].map((part) => quantile(latencies, part)),
    microsPerDelivery: {
      service: perDelivery('service'),
      postgres: perDelivery('postgres'),
      receivers: perDelivery('receivers'),
    },
  });
}

function requests(address: string): Promise<LoadResult> {
  const job: LoadJob = {
    addresses: [address],
    requests: 'service',
    workload: 'G1',
    store,
    connections: 16,
    arrivalsPerSecond: 100,
    seconds,
    from: 1,
    keys: [loadKey],
  };
  return load(job, cores?.load);
}

/** Waits, for at most two minutes, until there is no such endpoint. */
async function waitUntilNone(condition: string): Promise<void> {
  for (const endsAt = performance.now() + 120_000; ; await sleep(500)) {
    const { rows } = await sql.query(`select 1 from webhook_endpoints where ${condition} limit 1`);
    if (rows.length === 0) return;
    if (performance.now() > endsAt) throw new Error(`Endpoints for more than two minutes: ${condition}`);
  }
}

/** Nothing is under way to endpoints from now on, or all are sent what is new from now on. */
async function switchEndpoints(isOn: boolean): Promise<void> {
  await sql.query(
    `update webhook_endpoints
     set is_paused = $1, position = (select position || ':' || nonce from event_state)`,
    [!isOn],
  );
  await waitUntilNone(isOn ? 'leased_until <= now()' : 'leased_until > now()');
}

async function createEndpoints(): Promise<void> {
  await sql.query('delete from webhook_endpoints');
  for (let index = 0; index < 500; index += 1) {
    const address = addresses[index % addresses.length];
    if (index % 5 === 0) await createEndpoint(`https://${address}:${port}/good`);
    else if (index % 5 < 3) await createEndpoint(`https://${address}:${closedPort}/`);
    else await createEndpoint(`https://${address}:${port}/hung`);
  }
  await change(1, 1);
  await waitUntilNone(`is_healthy and url not like '%/good'`);
}

const situations: readonly {
  readonly name: string;
  readonly target: MeasuredProcess;
  readonly hasEndpoints: boolean;
}[] = [
  { name: 'without endpoints', target: service, hasEndpoints: false },
  { name: 'beside 500', target: service, hasEndpoints: true },
  { name: 'delivered by another process', target: withoutWebhooks, hasEndpoints: true },
];

async function measureRequests(): Promise<void> {
  await createEndpoints();
  const results = new Map<string, LoadResult[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, target, hasEndpoints } of situations) {
      pin(service.pid, target === service ? cores?.server : cores?.load);
      await switchEndpoints(hasEndpoints);
      // Connections to those that respond are open by then.
      const changing = change(2, seconds + 5);
      await sleep(4_000);
      await takeLatencies();
      const before = service.cpuMicros;
      const result = await requests(target.address);
      const deliveringCore = (service.cpuMicros - before) / (seconds * 1_000_000);
      const deliveries = await takeLatencies();
      await changing;
      results.set(name, [...(results.get(name) ?? []), result]);
      console.log(name, {
        p50: tenths(result.p50),
        p99: tenths(result.p99),
        deliveries: deliveries.length,
        deliveryP99: quantile(deliveries, 0.99),
        deliveringCore,
      });
    }
  }
  for (const [name, list] of results) console.log(name, { medianP99: tenths(median(list.map(({ p99 }) => p99))) });
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

try {
  await measureDeliveries();
  await measureRequests();
} finally {
  receivers.stdin.end();
  await once(receivers, 'close');
  await sql.end();
  await service.stop();
  await withoutWebhooks.stop();
  cluster.remove();
  rmSync(directory, { recursive: true });
}
process.exit(0);

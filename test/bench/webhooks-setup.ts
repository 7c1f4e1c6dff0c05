import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { ecKey, makeCertificate, rsaKey } from '../support/certificate.ts';
import { connect } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { load } from './load.ts';
import type { LoadResult } from './load-process.ts';
import { childrenOf, cores, cpuMicrosOf, cpuMicrosOfAll, pin, pinned } from './measured-process.ts';
import { adminKey, createKey, mainOf, root, startService } from './measured-service.ts';

/** What `webhooks-process.ts` measures: a service, what receives from it, and what it is asked and told. */

/** Nothing listens there. */
export const closedPort = 1;
export const addresses = Array.from({ length: 250 }, (_, index) => `127.0.1.${index + 1}`);
const categories = 50;

const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const names = addresses.map((address) => `IP:${address}`).join();
const certificates = [makeCertificate(ecKey, folderOf('good'), names), makeCertificate(rsaKey, folderOf('hostile'))];
const trusted = join(directory, 'trusted.pem');
writeFileSync(trusted, certificates.map(({ cert }) => cert).join(''));

const receivers = startReceivers('webhook-receivers-process.ts', 'good');
const hostile = startReceivers('../support/hostile-receivers-process.ts', 'hostile', '8');
export const { port } = new URL(await receivers.nextLine());
const urlsByKind = JSON.parse(await hostile.nextLine()) as Readonly<Record<string, readonly string[]>>;
/** Of eight receivers of each kind. */
export const hostileUrls = Object.values(urlsByKind).flat();

const cluster = await PostgresCluster.create();
pin(cluster.pid, cores?.database);
const store = await fillStore(cluster.url, 10_000, root);
const main = pinned([process.execPath, mainOf(root)], cores?.server);
const database = { DATABASE_URL: cluster.url, LOG_LEVEL: 'warn' };
export const service = await startService(
  {
    ...database,
    WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
    WEBHOOK_ALLOW: '127.0.0.0/8',
    WEBHOOK_PORTS: [port, closedPort, ...hostileUrls.map((url) => new URL(url).port)].join(),
    NODE_EXTRA_CA_CERTS: trusted,
  },
  main,
);
export const withoutWebhooks = await startService(database, main);
export const sql = await connect(cluster.url);
const loadKey = await createKey(service.address);

function folderOf(name: string): string {
  const folder = join(directory, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function startReceivers(program: string, name: string, ...more: readonly string[]) {
  const command = [process.execPath, join(import.meta.dirname, program), folderOf(name), ...more];
  const [file, ...parameters] = pinned(command, cores?.load);
  const child = spawn(file!, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, nextLine: async () => (await lines.next()).value as string };
}

/** Sends a mutation or a query of an administrator, or of another key. */
export async function manage(query: string, variables: object, key = adminKey): Promise<void> {
  const response = await fetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { errors } = (await response.json()) as { errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
}

export function createEndpoint(url: string, description = ''): Promise<void> {
  const input = { url, description };
  return manage('mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }', {
    input,
  });
}

/** The latencies of deliveries since the last call. */
export async function takeLatencies(): Promise<number[]> {
  receivers.child.stdin.write('\n');
  return JSON.parse(await receivers.nextLine()) as number[];
}

/** Changes so many objects a second, each of which says when. */
export async function change(perSecond: number, forSeconds: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  for (; count < perSecond * forSeconds; count += 1) {
    await sleep(Math.max(0, startedAt + (count * 1_000) / perSecond - performance.now()));
    const id = 1 + (count % categories);
    await sql.query('update categories set description = $1 where id = $2', [String(Date.now()), id]);
  }
  return count;
}

/** Waits, for at most two minutes, until there is no such endpoint. */
export async function waitUntilNone(condition: string): Promise<void> {
  for (const endsAt = performance.now() + 120_000; ; await sleep(500)) {
    const { rows } = await sql.query(`select 1 from webhook_endpoints where ${condition} limit 1`);
    if (rows.length === 0) return;
    if (performance.now() > endsAt) throw new Error(`Endpoints for more than two minutes: ${condition}`);
  }
}

/** From now on, those that meet the condition are sent what is new, and nothing is under way to others. */
export async function switchEndpoints(condition: string): Promise<void> {
  await sql.query(
    `update webhook_endpoints
     set is_paused = not (${condition}), position = (select position || ':' || nonce from event_state)`,
  );
  await waitUntilNone('is_paused = coalesce(leased_until > now(), false)');
}

/** Where the service and the process that delivers run. */
export function pinService(on: string | undefined): void {
  for (const pid of [service.pid, ...childrenOf(service.pid)]) pin(pid, on);
}

/** A neighbour's: pages, of which so many arrive each second whether earlier ones are done or not. */
export function requests(address: string, seconds: number): Promise<LoadResult> {
  return load(
    {
      addresses: [address],
      requests: 'service',
      workload: 'G1',
      store,
      connections: 16,
      arrivalsPerSecond: 100,
      seconds,
      from: 1,
      keys: [loadKey],
    },
    cores?.load,
  );
}

/** Microseconds of processor time so far. */
export function times() {
  return {
    service: service.cpuMicros,
    /** The process that delivers. */
    delivery: childrenOf(service.pid).reduce((sum, pid) => sum + cpuMicrosOf(pid), 0),
    postgres: cpuMicrosOfAll(cluster.pid),
    receivers: cpuMicrosOf(receivers.child.pid!),
    hostile: cpuMicrosOfAll(hostile.child.pid!),
    /** Whoever sends the requests and the changes. */
    bench: cpuMicrosOf(process.pid),
  };
}

export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1] ?? NaN;
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

export async function stop(): Promise<void> {
  for (const { child } of [receivers, hostile]) {
    child.stdin.end();
    await once(child, 'close');
  }
  await sql.end();
  await service.stop();
  await withoutWebhooks.stop();
  cluster.remove();
  rmSync(directory, { recursive: true });
}

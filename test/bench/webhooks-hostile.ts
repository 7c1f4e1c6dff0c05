import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { cores, idleMicros } from './measured-process.ts';
import { createKey } from './measured-service.ts';
import { layOut, median } from './report.ts';
import {
  addresses,
  change,
  createEndpoint,
  hostileUrls,
  manage,
  pinService,
  port,
  quantile,
  requests,
  service,
  sql,
  switchEndpoints,
  takeLatencies,
  times,
} from './webhooks-setup.ts';

const busyEndpoints = 100;
const changesPerSecond = 10;
const managingKeys = 4;
/** Of each key: every tenth is a rotation, the others read attempts. */
const managedPerSecond = 5;
const rotateEvery = 10;
const adminPlan = 'ENTERPRISE, scopes: [ADMIN], requestsPerMinute: 1000000000, requestsPerDay: 1000000000';
const reading = 'query ($id: ID!) { webhookEndpoint(id: $id) { attempts(first: 100) { nodes { status at } } } }';
const rotation = 'mutation ($id: ID!) { rotateWebhookSecret(input: { id: $id }) { secret } }';
const settleMillis = 1_000;

interface Situation {
  readonly name: string;
  /** Those that are sent to: a condition in SQL. */
  readonly endpoints: string;
  readonly isManaged: boolean;
}

/** What keys that manage take by themselves is a request as any other's. */
const situations: readonly Situation[] = [
  { name: 'none', endpoints: 'false', isManaged: false },
  { name: 'managed', endpoints: 'false', isManaged: true },
  { name: '100 busy', endpoints: "description = 'busy'", isManaged: false },
  { name: '100 busy, 64 hostile, managed', endpoints: 'true', isManaged: true },
];

type Figures = Readonly<Record<string, number>>;

/** A neighbour's requests beside busy and hostile endpoints, and what the good ones get. */
export async function measureHostile(seconds: number, rounds: number): Promise<void> {
  pinService(cores?.server);
  await createEndpoints();
  const keys = await Promise.all(Array.from({ length: managingKeys }, () => createKey(service.address, adminPlan)));
  // Until the code is compiled.
  await requests(service.address, 3);
  const results = new Map<string, Figures[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const situation of situations) {
      const figures = await measureSituation(situation, keys, seconds);
      results.set(situation.name, [...(results.get(situation.name) ?? []), figures]);
      console.log(situation.name, figures);
    }
  }
  console.log(tableOf(results));
}

async function createEndpoints(): Promise<void> {
  await sql.query('delete from webhook_endpoints');
  for (const address of addresses.slice(0, busyEndpoints))
    await createEndpoint(`https://${address}:${port}/good`, 'busy');
  for (const url of hostileUrls) await createEndpoint(url, 'hostile');
}

async function measureSituation(
  { endpoints, isManaged }: Situation,
  keys: readonly string[],
  seconds: number,
): Promise<Figures> {
  await switchEndpoints('false');
  // As if they had never failed.
  await sql.query(`update webhook_endpoints set failures = 0, failing_since = null, failed_at = null,
    next_attempt_at = null, is_healthy = true, refusals = '{}'`);
  await switchEndpoints(endpoints);
  // Connections are open by then, and the hostile ones known.
  await change(changesPerSecond, 2);
  await sleep(settleMillis);
  await takeLatencies();
  const { rows } = await sql.query<{ id: string }>("select id from webhook_endpoints where description = 'busy'");
  const ids = rows.map(({ id }) => id);
  const before = { attempts: await countHostileAttempts(), times: times(), idle: idleMicros() };
  const [neighbour, changes, managed] = await Promise.all([
    requests(service.address, seconds),
    change(changesPerSecond, seconds),
    Promise.all(isManaged ? keys.map((key) => manageFor(key, ids, seconds)) : []),
  ]);
  const [after, idle] = [times(), idleMicros() - before.idle];
  const coresOf = (micros: number): number => micros / neighbour.seconds / 1_000_000;
  const used = (name: keyof typeof after): number => after[name] - before.times[name];
  const all = [used('service'), used('delivery'), used('postgres'), used('receivers'), used('hostile'), used('bench')];
  await sleep(settleMillis);
  const deliveries = await takeLatencies();
  const isBusy = endpoints !== 'false';
  return {
    p50: neighbour.p50,
    p99: neighbour.p99,
    serviceMicros: used('service') / neighbour.requests,
    serviceCores: coresOf(used('service')),
    deliveryCores: coresOf(used('delivery')),
    postgresCores: coresOf(used('postgres')),
    hostileCores: coresOf(used('hostile')),
    // What isn't of this run.
    otherCores: availableParallelism() - coresOf(idle + all.reduce((sum, micros) => sum + micros, 0)),
    goodPart: isBusy ? deliveries.length / (changes * busyEndpoints) : NaN,
    goodP99: isBusy ? quantile(deliveries, 0.99) : NaN,
    hostileAttempts: (await countHostileAttempts()) - before.attempts,
    managedP99: quantile(managed.flat(), 0.99),
  };
}

async function countHostileAttempts(): Promise<number> {
  const { rows } = await sql.query<{ count: string }>(
    `select count(*) from webhook_attempts join webhook_endpoints endpoint on endpoint.id = endpoint_id
     where description = 'hostile'`,
  );
  return Number(rows[0]!.count);
}

/** Reads attempts of busy endpoints, and rotates their secrets; resolves with the times that it took. */
async function manageFor(key: string, ids: readonly string[], seconds: number): Promise<number[]> {
  const millis: number[] = [];
  const startedAt = performance.now();
  for (let count = 0; count < managedPerSecond * seconds; count += 1) {
    const dueAt = startedAt + (count * 1_000) / managedPerSecond;
    await sleep(Math.max(0, dueAt - performance.now()));
    const id = ids[count % ids.length];
    await manage(count % rotateEvery === rotateEvery - 1 ? rotation : reading, { id }, key);
    millis.push(performance.now() - dueAt);
  }
  return millis;
}

function tableOf(results: ReadonlyMap<string, readonly Figures[]>): string {
  const rows = Array.from(results, ([name, rounds]) => [
    name,
    ...Object.keys(rounds[0]!).map((column) => shown(median(rounds.map((figures) => figures[column]!)))),
  ]);
  return layOut([['medians', ...Object.keys([...results.values()][0]![0]!)], ...rows]);
}

function shown(value: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(value < 10 ? 2 : 0);
}

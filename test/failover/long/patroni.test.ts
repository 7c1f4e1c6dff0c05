import { setTimeout as wait } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';
import pg from 'pg';

import { RedisServer } from '../../redis/redis-server.ts';
import { runSql } from '../../support/postgres-client.ts';
import { Service } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { EventPoller, EventSubscriber, readLog } from './event-readers.ts';
import { Load } from './load.ts';
import { outageOf, printOutages, type Outage } from './outages.ts';
import { PatroniCluster } from './patroni-cluster.ts';
import type { PatroniNode } from './patroni-node.ts';

/** `FAILOVER_RUNS=1` is a try of each event. */
const runsAtMost = Number(process.env['FAILOVER_RUNS'] ?? 8);
const processes = 3;
const clients = 6;
/** Of one key, which sends until nothing is left. */
const metered = 500;
const maxSeconds = 1_500;
const maxWritableMillis = 120_000;

/** What happens to the primary, and how it comes back once another has taken its place. */
interface Disturbance {
  readonly event: string;
  readonly runs: number;
  readonly begin: (primary: PatroniNode) => Promise<void> | void;
  readonly end: (primary: PatroniNode) => void;
}

const disturbances: readonly Disturbance[] = [
  { event: 'switchover', runs: 8, begin: (primary) => primary.switchOver(), end: () => undefined },
  { event: 'kill -9 of the primary', runs: 5, begin: (primary) => primary.kill(), end: (primary) => primary.start() },
  {
    event: 'SIGSTOP of the primary, SIGCONT later',
    runs: 2,
    begin: (primary) => primary.pause(),
    end: (primary) => primary.resume(),
  },
  {
    event: 'primary cut off from etcd',
    runs: 2,
    begin: (primary) => primary.etcd.cut(),
    end: (primary) => primary.etcd.mend(),
  },
];

let cluster: PatroniCluster | undefined;
const services: Service[] = [];

afterEach(async () => {
  for (const service of services.splice(0)) await service.kill();
  await cluster?.remove();
  cluster = undefined;
});

/** When one of these servers has first carried out a write. */
async function writableAt(nodes: readonly PatroniNode[]): Promise<number> {
  let at: number | undefined;
  const deadline = performance.now() + maxWritableMillis;
  const attempt = async ({ url }: PatroniNode): Promise<void> => {
    while (at === undefined && performance.now() < deadline) {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000, query_timeout: 1_000 });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('insert into probe.writes values (now())');
        at ??= performance.now();
      } catch {
        await wait(100);
      }
      void client.end();
    }
  };
  await Promise.all(nodes.map(attempt));
  if (at === undefined) throw new Error(`No server has taken writes within ${maxWritableMillis} ms.`);
  return at;
}

/** Of the acknowledged orders those that are not there, and of all those that are there more than once. */
async function effects(
  primary: PatroniNode,
  load: Load,
): Promise<{ readonly lost: string[]; readonly doubled: string[] }> {
  const acknowledged = load.orders.filter(({ id }) => id !== undefined);
  const rows = await runSql(
    primary.url,
    `select pet_id || ' ' || quantity as name, count(*)::int as count from orders group by 1`,
  );
  const counts = new Map(rows.map(({ name, count }) => [String(name), Number(count)]));
  const nameOf = ({ petId, quantity }: { petId: number; quantity: number }): string => `${petId} ${quantity}`;
  return {
    lost: acknowledged.map(nameOf).filter((name) => !counts.has(name)),
    doubled: load.orders.map(nameOf).filter((name) => counts.get(name)! > 1),
  };
}

/** Spends all that the key has; returns how often it was admitted. */
async function spend(secret: string): Promise<number> {
  let admitted = 0;
  let requests = 0;
  const isSpent = async (): Promise<boolean> => {
    const service = services[(requests += 1) % processes]!;
    const { status } = await service.get('/pets/1', { authorization: `Bearer ${secret}` });
    if (status === 200) admitted += 1;
    return status === 429;
  };
  await until(isSpent, { maxMillis: maxSeconds * 1_000, everyMillis: 100 });
  return admitted;
}

it.each([{ isSynchronous: true }, { isSynchronous: false }])(
  'Patroni loses nothing that it should keep, does everything once, and is back when a server takes writes (synchronous: $isSynchronous)',
  async ({ isSynchronous }) => {
    cluster = await PatroniCluster.start({ isSynchronous });
    const redis = await RedisServer.start();
    const settings = {
      DATABASE_URL: cluster.url,
      DATABASE_REPLICAS: cluster.hosts,
      REDIS_URL: redis.url,
      BAN_AFTER: '0',
      LOG_LEVEL: 'warn',
    };
    while (services.length < processes) services.push(await Service.start(settings));
    const secret = await services[0]!.createKey();
    const petIds = Array.from({ length: clients }, (_, index) => index + 1);
    const seed = `mutation { createCategory(input: { name: "Dogs" }) { category { id } } ${petIds
      .map((id) => `p${id}: createPet(input: { name: "pet ${id}", categoryId: 1 }) { pet { id } }`)
      .join(' ')} }`;
    expect((await services[0]!.graphql(seed, {}, secret)).body.errors).toBeUndefined();
    const primary = await cluster.settled();
    await runSql(primary.url, 'create schema probe; create table probe.writes (at timestamptz)');
    const { body } = await services[0]!.graphql('{ eventCursor }', {}, secret);

    const poller = new EventPoller(services, secret);
    const subscriber = new EventSubscriber(services, secret, body.data.eventCursor);
    const spending = spend(
      await services[0]!.createKey(`plan: ENTERPRISE, requestsPerMinute: 1000000, requestsPerDay: ${metered}`),
    );
    const load = new Load(services, secret);
    load.start(petIds);
    const outages: Outage[] = [];
    let lost = 0;
    let doubled = 0;
    for (const { event, runs, begin, end } of disturbances) {
      for (let run = 0; run < Math.min(runs, runsAtMost); run += 1) {
        const old = await cluster.settled();
        await load.flows();
        load.seen();
        const others = cluster.nodes.filter((node) => node !== old);
        const [writable] = await Promise.all([writableAt(others), begin(old)]);
        await load.flows();
        await cluster.successorOf(old);
        end(old);
        const next = await cluster.settled();
        await load.flows();
        const found = await effects(next, load);
        const effect = { lost: found.lost.length - lost, doubled: found.doubled.length - doubled };
        [lost, doubled] = [found.lost.length, found.doubled.length];
        const outage = outageOf(event, load.seen(), writable, effect);
        outages.push(outage);
        console.info(JSON.stringify(outage));
      }
    }
    await load.stop();
    const pages = await Promise.all(services.map((service) => service.metrics()));
    console.info(pages.flatMap((page) => page.match(/^petstore_reads_total.*/gm) ?? []).join('\n'));
    expect(pages.join('\n')).toMatch(/^petstore_reads_total\{server="127.0.0.1:\d+",reason="fresh"\} [1-9]/m);
    printOutages(`Patroni, ${isSynchronous ? 'synchronous and strict' : 'asynchronous'}`, outages);

    const log = await readLog(services, secret);
    const last = log.at(-1)?.id;
    await Promise.all([poller.stopAt(last), subscriber.stopAt(last)]);
    expect(outages.map(({ failed }) => failed)).toEqual(outages.map(() => 0));
    expect(load.unexpected).toEqual([]);
    expect(doubled).toBe(0);
    expect(await spending).toBeLessThanOrEqual(metered);
    const errors = services.flatMap(({ output }) => output.split('\n').filter((line) => /"level":[56]0/.test(line)));
    expect(errors).toEqual([]);
    if (!isSynchronous) {
      console.info(JSON.stringify({ stale: load.stale.length, gone: poller.gone + subscriber.gone }));
      return;
    }
    expect(lost).toBe(0);
    expect(load.stale).toEqual([]);
    expect([poller.gone, subscriber.gone]).toEqual([0, 0]);
    const ids = log.map(({ id }) => id);
    expect(poller.ids).toEqual(ids);
    expect(subscriber.ids).toEqual(ids.slice(ids.indexOf(subscriber.ids[0]!)));
    expectWhole(log, load);
  },
  maxSeconds * 1_000,
);

/** Each order is one event, and the inventory of each pet never goes back. */
function expectWhole(log: Awaited<ReturnType<typeof readLog>>, load: Load): void {
  const created = log.filter(({ type }) => type === 'order.created').map(({ object }) => String(object.id));
  const ordered = load.orders.map(({ id }) => String(id));
  expect(created.toSorted()).toEqual(ordered.toSorted());
  const quantities = Map.groupBy(
    log.filter(({ type }) => type === 'inventory.updated'),
    ({ object }) => String(object.petId),
  );
  for (const events of quantities.values()) {
    const seen = events.map(({ object }) => object.quantity!);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  }
}

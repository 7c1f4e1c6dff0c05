import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { atEnd } from '../support/at-end.ts';
import { runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { adminKey, Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };

/** Clients behind a balancer: each request goes to one of the processes that serve. */
class Load {
  readonly failures: string[] = [];
  readonly written: { readonly id: number; readonly target: string }[] = [];
  requests = 0;
  targets: readonly string[] = [];
  readonly #stopping = new AbortController();
  readonly #clients: Promise<void>[];

  constructor(targets: readonly string[], clients: number) {
    this.targets = targets;
    this.#clients = Array.from({ length: clients }, (_, n) => this.#run(n % 2 === 0));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#clients);
  }

  /** Resolves when so many more requests have got a response. */
  async progress(requests: number): Promise<void> {
    const target = this.requests + requests;
    await until(() => this.requests >= target, { maxMillis: 60_000, everyMillis: 50 });
  }

  async #run(isWriter: boolean): Promise<void> {
    for (let n = 0; !this.#stopping.signal.aborted; n += 1) {
      const target = this.targets[n % this.targets.length]!;
      try {
        const response = isWriter
          ? await fetch(`${target}/pets`, { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
          : await fetch(`${target}/pets?limit=5`, { headers });
        const body = (await response.json()) as { id: number };
        if (!response.ok) this.failures.push(`${response.status} ${JSON.stringify(body)}`);
        else if (isWriter) this.written.push({ id: body.id, target });
      } catch (error) {
        this.failures.push(String(error));
      }
      this.requests += 1;
      // Below the quota of the key.
      await wait(300);
    }
  }
}

/** The requests that change a pet in every way, and its events. */
const changesOfEach = 7;
const typesOfChanges = [
  'pet.created',
  'inventory.created',
  'pet.updated',
  'inventory.updated',
  'inventory.updated',
  'order.created',
  'order.updated',
  'order.cancelled',
  'pet.deleted',
  'inventory.deleted',
];

interface Logged {
  readonly type: string;
  readonly resource: string;
  readonly object: { readonly id?: number };
}

/** The whole log. */
async function readEvents(service: Service): Promise<Logged[]> {
  const events: Logged[] = [];
  for (let path = '/events?limit=100'; ;) {
    const { body, headers: received } = await service.get(path, headers);
    if (body.length === 0) return events;
    events.push(...body);
    path = /<([^>]+)>; rel="next"/.exec(received.get('link') ?? '')![1]!;
  }
}

it('an update from the last release to this one, process by process, fails no request, loses no write and no event, keeps all rows and counts each request once', async () => {
  const previous = { directory: process.env['PREVIOUS_RELEASE'] ?? '' };
  const cluster = await startCluster();
  const redis = await RedisServer.start();
  const environment = { DATABASE_URL: cluster.url, DATABASE_POOL: '6', DRAIN_DELAY: '1s', REDIS_URL: redis.url };
  const processes = [await Service.start(environment, previous), await Service.start(environment, previous)];
  const created = await processes[0]!.graphql(
    'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }',
  );
  expect(created.body.data.createCategory.category.id).toBe('1');
  await runSql(
    cluster.url,
    `insert into pets (name, category_id, status) select 'Old ' || n, 1, 'pending' from generate_series(1, 5000) as n;
      insert into inventory (pet_id, quantity) select id, id from pets;
      insert into orders (pet_id, quantity, ship_date) select id, 1, '2026-01-01T00:00:00Z' from pets where id % 5 = 0`,
  );
  /** The rows from before the update, except for what is written through the processes. */
  const oldRows = () =>
    runSql(
      cluster.url,
      `select 'category' as noun, id, to_json(categories) as row from categories
        union all select 'pet', id, to_json(pets) from pets where id <= 5000
        union all select 'inventory', pet_id, to_json(inventory) from inventory where pet_id <= 5000
        union all select 'order', id, to_json(orders) from orders where id <= 1000 order by 1, 2`,
    );
  const rowsBefore = await oldRows();
  expect(rowsBefore.length).toBe(1 + 5_000 + 5_000 + 1_000);
  /** The paths of what the last release has changed. */
  const changed: string[] = [];
  const changeEverything = async (old: Service): Promise<void> => {
    const remove = async (path: string): Promise<number> =>
      (await fetch(old.address + path, { method: 'DELETE', headers })).status;
    const pet = (await old.post('/pets', { name: 'Max', categoryId: 1 })).body.id;
    const statuses = [
      (await old.patch(`/pets/${pet}`, { status: 'sold' })).status,
      (await old.patch(`/inventory/${pet}`, { quantity: 7 })).status,
    ];
    const order = (await old.post('/store/orders', { petId: pet, quantity: 2 })).body.id;
    statuses.push((await old.patch(`/store/orders/${order}`, { quantity: 3 })).status);
    statuses.push(await remove(`/store/orders/${order}`), await remove(`/pets/${pet}`));
    expect(statuses).toEqual([200, 200, 200, 204, 204]);
    changed.push(`/pets/${pet}`, `/inventory/${pet}`, `/store/orders/${order}`);
  };
  const load = new Load(
    processes.map(({ address }) => address),
    4,
  );
  // A failed test would leave its clients running.
  atEnd(() => load.stop());
  await load.progress(20);
  const previousProcesses = processes.slice();
  for (const old of previousProcesses) {
    const fresh = await Service.start(environment);
    processes.splice(processes.indexOf(old), 1, fresh);
    load.targets = [...load.targets, fresh.address];
    await load.progress(20);
    await changeEverything(old);
    load.targets = load.targets.filter((target) => target !== old.address);
    expect(await old.stop()).toBe(0);
    await load.progress(20);
  }
  await load.stop();
  const viewed = await processes[0]!.graphql('{ viewer { day { limit remaining } } }');
  const { limit, remaining } = viewed.body.data.viewer.day;
  // Those of the load, and the one that created the category.
  expect(limit - remaining).toBe(load.requests + 1 + previousProcesses.length * changesOfEach);
  const lost: number[] = [];
  for (const { id } of load.written) {
    const { body } = await processes[0]!.graphql('query ($id: ID!) { pet(id: $id) { id } }', { id });
    if (body.data.pet === null) lost.push(id);
  }
  expect({ failures: load.failures, lost }).toEqual({ failures: [], lost: [] });
  expect(load.written.length).toBeGreaterThan(30);
  expect(await oldRows()).toEqual(rowsBefore);

  // The log has what the processes of both versions have written.
  await until(async () => (await runSql(cluster.url, 'select from event_outbox')).length === 0);
  const events = await readEvents(processes[0]!);
  const createdPets = new Set(events.flatMap(({ type, object }) => (type === 'pet.created' ? [object.id!] : [])));
  expect(load.written.map(({ id }) => id).filter((id) => !createdPets.has(id))).toEqual([]);
  const addresses = new Set(previousProcesses.map(({ address }) => address));
  const byPrevious = load.written.filter(({ target }) => addresses.has(target)).length;
  expect(byPrevious).toBeGreaterThan(5);
  const types = events.filter(({ resource }) => changed.some((each) => each === resource)).map(({ type }) => type);
  expect(types).toEqual(previousProcesses.flatMap(() => typesOfChanges));
  console.info({ requests: load.requests, failures: 0, events: events.length, ofPreviousProcesses: byPrevious });
  for (const each of processes) await each.kill();
});

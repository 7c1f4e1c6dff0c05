import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { adminKey, Service } from '../support/service.ts';

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };

/** Clients behind a balancer: each request goes to one of the processes that serve. */
class Load {
  readonly failures: string[] = [];
  readonly written: number[] = [];
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
    const until = this.requests + requests;
    while (this.requests < until) await wait(50);
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
        else if (isWriter) this.written.push(body.id);
      } catch (error) {
        this.failures.push(String(error));
      }
      this.requests += 1;
      // Below the quota of the key.
      await wait(300);
    }
  }
}

it('an update from the last release to this one, process by process, fails no request, loses no write and counts each request once', async () => {
  const previous = { directory: process.env['PREVIOUS_RELEASE'] ?? '' };
  const cluster = await PostgresCluster.create();
  const redis = await RedisServer.start();
  const environment = { DATABASE_URL: cluster.url, DATABASE_POOL: '6', DRAIN_DELAY: '1s', REDIS_URL: redis.url };
  const processes = [await Service.start(environment, previous), await Service.start(environment, previous)];
  const created = await processes[0]!.graphql(
    'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }',
  );
  expect(created.body.data.createCategory.category.id).toBe('1');
  const load = new Load(
    processes.map(({ address }) => address),
    4,
  );
  await load.progress(20);
  const previousProcesses = processes.slice();
  for (const old of previousProcesses) {
    const fresh = await Service.start(environment);
    processes.splice(processes.indexOf(old), 1, fresh);
    load.targets = [...load.targets, fresh.address];
    await load.progress(20);
    load.targets = load.targets.filter((target) => target !== old.address);
    expect(await old.stop()).toBe(0);
    await load.progress(20);
  }
  await load.stop();
  const viewed = await processes[0]!.graphql('{ viewer { day { limit remaining } } }');
  const { limit, remaining } = viewed.body.data.viewer.day;
  // Those of the load, and the one that created the category.
  expect(limit - remaining).toBe(load.requests + 1);
  const lost: number[] = [];
  for (const id of load.written) {
    const { body } = await processes[0]!.graphql('query ($id: ID!) { pet(id: $id) { id } }', { id });
    if (body.data.pet === null) lost.push(id);
  }
  expect({ failures: load.failures, lost }).toEqual({ failures: [], lost: [] });
  expect(load.written.length).toBeGreaterThan(30);
  for (const each of processes) await each.kill();
  cluster.remove();
});

import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { SeededRandom } from '../../support/seeded-random.ts';
import { codesOf } from '../../support/service.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { until } from '../../support/until.ts';
import { askOnce, ServiceOfWorkers } from '../../support/workers.ts';

const cluster = await startCluster();
const service = await ServiceOfWorkers.start({ DATABASE_URL: cluster.url, DATABASE_POOL: '4', LOG_LEVEL: 'info' });
const key = await service.createKey();
const random = new SeededRandom(69);

/** Each death starts a worker, which takes seconds on a machine that does other things. */
const maxMillis = 600_000;
const clients = 3;
const deaths = 3;

/** The response to a write on a connection of its own; undefined for one that was reset. */
async function send(path: string, body: object, idempotencyKey?: string) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const keyed = idempotencyKey === undefined ? headers : { ...headers, 'idempotency-key': idempotencyKey };
  const options = { method: 'POST', headers: keyed, body: JSON.stringify(body) };
  const response = await askOnce(service.address, path, options).catch(() => undefined);
  return response && { status: response.status, body: JSON.parse(response.text) };
}

/** Several clients do the work while workers are killed at moments of the seed; resolves with how often they did. */
async function whileWorkersDie(work: (n: number) => Promise<void>): Promise<number> {
  let count = 0;
  const over = new AbortController();
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await work(count++);
      // Time for the worker that starts.
      await wait(random.below(40));
    }
  };
  const killing = async (): Promise<void> => {
    for (let death = 0; death < deaths; death += 1) {
      await service.complete();
      await wait(random.below(300));
      await service.killWorker(random.oneOf(service.workers));
    }
    await service.complete();
    over.abort();
  };
  await Promise.all([killing(), ...Array.from({ length: clients }, client)]);
  return count;
}

it(
  'a keyed write that its client repeats until it is answered is done exactly once, whichever worker dies',
  async () => {
    const ids = new Map<string, unknown>();
    const total = await whileWorkersDie(async (n) => {
      const name = `keyed ${n}`;
      const query = 'mutation ($name: String!) { createCategory(input: { name: $name }) { category { id } } }';
      await until(
        async () => {
          const response =
            n % 2 === 0
              ? await send('/categories', { name }, name)
              : await send('/graphql', { query, variables: { name } }, name);
          if (response === undefined || [409, 503].includes(response.status)) return false;
          const codes = codesOf(response.body);
          expect(codes.filter((code) => !['CONFLICT', 'SERVICE_UNAVAILABLE'].includes(code))).toEqual([]);
          if (codes.length > 0) return false;
          expect(response.status).toBe(n % 2 === 0 ? 201 : 200);
          ids.set(name, response.body.id ?? response.body.data.createCategory.category.id);
          return true;
        },
        { maxMillis, everyMillis: 50 },
      );
    });
    const rows = await cluster.sql("select name, id::text from categories where name like 'keyed %'");
    expect(rows).toHaveLength(total);
    expect(new Map(rows.map(({ name, id }) => [name, id]))).toEqual(
      new Map([...ids].map(([name, id]) => [name, String(id)])),
    );
  },
  maxMillis,
);

it(
  'a write that was answered is there, and none is there twice',
  async () => {
    const answered: string[] = [];
    const total = await whileWorkersDie(async (n) => {
      const name = `plain ${n}`;
      const response = await send('/categories', { name });
      if (response?.status === 201) answered.push(name);
    });
    const rows = await cluster.sql("select name from categories where name like 'plain %'");
    const names = rows.map(({ name }) => String(name));
    expect(new Set(names).size).toBe(names.length);
    expect(answered.filter((name) => !names.includes(name))).toEqual([]);
    expect(answered.length).toBeGreaterThan(total / 2);
  },
  maxMillis,
);

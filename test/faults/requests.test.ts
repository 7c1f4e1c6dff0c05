import { expect, it } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '2', LOG_LEVEL: 'silent' };
/** Two processes on one database. */
const services = await Promise.all([1, 2].map(() => Service.start(settings)));

interface Totals {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly writes: number;
  readonly others: number;
  readonly entries: number;
  /** Of `GET /pets/{petId}`, in all and by what was used. */
  readonly deprecated: number;
  readonly uses: number;
}

async function newKey(perMinute: number): Promise<{ id: string; secret: string }> {
  const { body } = await services[0]!.graphql(
    `mutation ($n: Int!) { createApiKey(input: { name: "counted", plan: ENTERPRISE, requestsPerMinute: $n, requestsPerDay: 1000000 }) {
      apiKey { id } secret } }`,
    { n: perMinute },
  );
  const { apiKey, secret } = (body as { data: { createApiKey: { apiKey: { id: string }; secret: string } } }).data
    .createApiKey;
  return { id: apiKey.id, secret };
}

async function totalsOf(id: string): Promise<Totals> {
  const [hours] = await cluster.sql(
    `select coalesce(sum(requests), 0)::int as requests, coalesce(sum(refused_by_quota), 0)::int as refused,
       coalesce(sum(server_errors), 0)::int as failed, coalesce(sum(writes), 0)::int as writes,
       coalesce(sum(client_errors), 0)::int as others, coalesce(sum(requests - omitted), 0)::int as entries,
       coalesce(sum(deprecated_uses), 0)::int as deprecated,
       (select coalesce(sum(uses), 0)::int from api_key_deprecated_use
        where key_id = ${id} and coordinate = 'GET /pets/{petId}') as uses
     from api_key_use where key_id = ${id} and not is_day`,
  );
  return hours as unknown as Totals;
}

/** So many requests at once, in turn to both processes: reads, writes and what isn't there; returns the statuses. */
function load(secret: string, count: number): Promise<number[]> {
  const headers = { authorization: `Bearer ${secret}` };
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const service = services[n % 2]!;
      const asked =
        n % 3 === 0
          ? service.post('/categories', { name: `c${n}` }, headers)
          : service.get(n % 3 === 1 ? '/categories?limit=1' : '/pets/999999', headers);
      return asked.then(({ status }) => status).catch(() => 0);
    }),
  );
}

const countOf = (statuses: readonly number[], ...wanted: readonly number[]): number =>
  statuses.filter((status) => wanted.includes(status)).length;

it('the counts of two processes are what their clients were answered, over a database that is lost and back', async () => {
  const { id, secret } = await newKey(200);
  const statuses = await load(secret, 300);
  cluster.stop();
  statuses.push(...(await load(secret, 30)));
  cluster.start();
  await until(async () => (await services[0]!.get('/readyz')).status === 200);
  statuses.push(...(await load(secret, 300)));
  await until(async () => (await totalsOf(id)).requests === statuses.length);
  expect(await totalsOf(id)).toMatchObject({
    requests: 630,
    refused: countOf(statuses, 429),
    failed: countOf(statuses, 503),
    others: countOf(statuses, 404),
    deprecated: 210,
    uses: 210,
  });
  expect(countOf(statuses, 429)).toBeGreaterThan(100);
  const [{ n }] = (await cluster.sql(`select count(*)::int as n from api_key_requests where key_id = ${id}`)) as [
    { n: number },
  ];
  expect(n).toBe((await totalsOf(id)).entries);
});

it('of a killed process the last second may be missing, and nothing is counted twice', async () => {
  const { id, secret } = await newKey(1_000_000);
  let sent = 0;
  for (let round = 0; round < 4; round += 1) {
    sent += (await load(secret, 60)).length;
    const counted = (await totalsOf(id)).requests;
    const loading = load(secret, 60);
    await services[1]!.kill();
    const statuses = await loading;
    sent += statuses.length;
    const ofOther = statuses.filter((status, n) => n % 2 === 0 && status !== 0).length;
    await until(async () => (await totalsOf(id)).requests >= counted + ofOther);
    const totals = await totalsOf(id);
    expect(totals.requests).toBeLessThanOrEqual(sent);
    expect(totals.deprecated).toBeLessThanOrEqual(sent / 3);
    expect(totals.uses).toBe(totals.deprecated);
    services[1] = await Service.start(settings);
  }
  // What the first process has counted is saved before what it counts now, or with it.
  const { id: other, secret: ofOther } = await newKey(1_000_000);
  await services[0]!.get('/pets/999999', { authorization: `Bearer ${ofOther}` });
  await until(async () => (await totalsOf(other)).requests === 1);
  const { requests, uses } = await totalsOf(id);
  await load(secret, 42);
  await until(async () => (await totalsOf(id)).requests === requests + 42);
  expect(await totalsOf(id)).toMatchObject({ deprecated: uses + 14, uses: uses + 14 });
});

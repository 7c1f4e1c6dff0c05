import { expect, it } from '@jest/globals';

import { runSql } from '../support/postgres-client.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { Pair } from './pair.ts';

const pair = await Pair.start();
const service = await Service.start({ DATABASE_URL: pair.urlOf(), DATABASE_POOL: '4', LOG_LEVEL: 'warn' });

async function newKey(): Promise<{ id: string; secret: string }> {
  const { body } = await service.graphql(
    `mutation { createApiKey(input: { name: "counted", plan: ENTERPRISE, requestsPerMinute: 1000000, requestsPerDay: 1000000 }) {
      apiKey { id } secret } }`,
  );
  const { apiKey, secret } = body.data.createApiKey;
  return { id: apiKey.id, secret };
}

interface Totals {
  readonly requests: number;
  readonly failed: number;
  readonly uses: number;
  readonly entries: number;
  readonly omitted: number;
}

async function totalsOf(id: string): Promise<Totals> {
  const [row] = await runSql(
    pair.primary.url,
    `select coalesce(sum(requests), 0)::int as requests, coalesce(sum(server_errors), 0)::int as failed,
       coalesce(sum(omitted), 0)::int as omitted,
       (select coalesce(sum(uses), 0)::int from api_key_deprecated_use where key_id = $1) as uses,
       (select count(*)::int from api_key_requests where key_id = $1) as entries
     from api_key_use where key_id = $1 and not is_day`,
    [id],
  );
  return row as unknown as Totals;
}

/** Uses of what is deprecated, at once; returns the statuses, 0 for no response. */
function load(secret: string, count: number): Promise<number[]> {
  const one = async (): Promise<number> => {
    const response = await service.get('/pets/1', { authorization: `Bearer ${secret}` }).catch(() => undefined);
    return response?.status ?? 0;
  };
  return Promise.all(Array.from({ length: count }, one));
}

const isReady = async (): Promise<boolean> => (await service.get('/readyz')).status === 200;

it('what waits for a fail-over is counted after it, once: counts, uses of what is deprecated, and entries', async () => {
  const { id, secret } = await newKey();
  const statuses = await load(secret, 30);
  await until(async () => (await totalsOf(id)).requests === 30);
  await pair.untilReplicated();
  pair.primary.stop();
  await until(async () => !(await isReady()));
  statuses.push(...(await load(secret, 30)));
  expect(statuses.slice(30)).toEqual(Array.from({ length: 30 }, () => 503));
  await service.line(/requests of keys are not saved yet/);
  pair.switchRoles();
  await until(isReady);
  statuses.push(...(await load(secret, 30)));
  await until(async () => (await totalsOf(id)).requests >= 90);
  const totals = await totalsOf(id);
  expect(totals).toMatchObject({ requests: 90, failed: statuses.filter((status) => status === 503).length, uses: 90 });
  expect(totals.entries + totals.omitted).toBe(90);
});

it('under load nothing is counted twice, and what was counted before, or is sent after it, is there', async () => {
  const { id, secret } = await newKey();
  let sent = 0;
  const ending = new AbortController();
  const loading = (async () => {
    while (!ending.signal.aborted) sent += (await load(secret, 10)).length;
  })();
  await until(async () => (await totalsOf(id)).requests > 100);
  const { requests: before } = await totalsOf(id);
  await pair.untilReplicated();
  pair.primary.stop();
  await until(async () => !(await isReady()));
  pair.switchRoles();
  await until(isReady);
  ending.abort();
  await loading;
  const after = await load(secret, 20);
  sent += after.length;
  // What the last batches wrote.
  await until(async () => (await totalsOf(id)).requests >= before + after.length);
  await service.stop();
  const totals = await totalsOf(id);
  expect(totals.requests).toBeLessThanOrEqual(sent);
  expect(totals.uses).toBe(totals.requests);
});

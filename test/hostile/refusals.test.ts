import { Agent, request } from 'node:http';

import { expect, it } from '@jest/globals';

import { Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';

const cluster = await startCluster();
const service = await Service.start({ DATABASE_URL: cluster.url, LOG_LEVEL: 'silent', BAN_AFTER: '0' });
const connections = 20;
const refusals = 10_000;

/** The status of one request, on a connection that is kept. */
function ask(agent: Agent, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${service.address}/pets?limit=1`, { agent, headers: { 'x-api-key': key } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject).end();
  });
}

async function idOf(plan: string): Promise<number> {
  const [row] = await cluster.sql(`select id::int from api_keys where plan = '${plan}'`);
  return Number(row?.['id']);
}

it('10,000 refusals of a key write ten entries a second, and leave those of another key', async () => {
  const flooding = await service.createKey('plan: FREE');
  const other = await service.createKey('plan: BUSINESS');
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const startedAt = performance.now();
  const flood = Promise.all(
    Array.from({ length: connections }, async () => {
      for (let n = 0; n < refusals / connections; n += 1) await ask(agent, flooding);
    }),
  );
  for (let n = 0; n < 20; n += 1) {
    const { status } = await service.post('/categories', { name: `c${n}` }, { authorization: `Bearer ${other}` });
    expect(status).toBe(201);
  }
  await flood;
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
  agent.destroy();
  const [floodId, otherId] = [await idOf('free'), await idOf('business')];
  const countOf = async (id: number, figure: string): Promise<number> => {
    const [row] = await cluster.sql(
      `select coalesce(sum(${figure}), 0)::int as n from api_key_use where key_id = ${id} and not is_day`,
    );
    return Number(row?.['n']);
  };
  await until(async () => (await countOf(floodId, 'requests')) === refusals);
  expect(await countOf(floodId, 'refused_by_quota')).toBeGreaterThan(refusals - 100 * seconds);
  const entries = refusals - (await countOf(floodId, 'omitted'));
  expect(entries).toBeLessThanOrEqual(12 * seconds);
  await until(async () => (await countOf(otherId, 'requests')) === 20);
  expect(await countOf(otherId, 'omitted')).toBe(0);
});

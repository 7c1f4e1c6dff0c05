import { expect, it } from '@jest/globals';

import { runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';

const total = 60;
const clients = 6;

it('does the work of an Idempotency-Key once, though kill -9 comes in the midst of it and everything is sent again', async () => {
  const settings = await copyEmbeddedStore();
  const create = (service: Service, n: number) =>
    service.post('/categories', { name: `written ${n}` }, { 'idempotency-key': `key ${n}` });
  const first = await Service.start(settings);
  const acknowledged = new Map<number, unknown>();
  let next = 0;
  const createSome = async (): Promise<void> => {
    for (let n = next++; n < total; n = next++) {
      const { body } = await create(first, n);
      acknowledged.set(n, body);
      if (acknowledged.size === total / 3) first.signal('SIGKILL');
    }
  };
  await Promise.allSettled(Array.from({ length: clients }, createSome));
  await first.ended();
  expect(acknowledged.size).toBeLessThan(total);

  const second = await Service.start(settings);
  for (let n = 0; n < total; n += 1) {
    const { status, body } = await create(second, n);
    expect([n, status, body]).toEqual([n, 201, acknowledged.get(n) ?? body]);
  }
  const { body } = await second.graphql('{ categories(first: 100) { edges { node { name } } } }');
  const names = (body.data.categories.edges as { node: { name: string } }[]).map(({ node }) => node.name);
  expect(names.toSorted()).toEqual(Array.from({ length: total }, (_, n) => `written ${n}`).toSorted());
});

it('two processes on one server carry out 20 requests with one Idempotency-Key once between them', async () => {
  const cluster = await startCluster();
  const settings = { DATABASE_URL: cluster.url, LOG_LEVEL: 'silent' };
  const services = [await Service.start(settings), await Service.start(settings)];
  const sendAll = (path: string, body: object) =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) => services[n % 2]!.post(path, body, { 'idempotency-key': `key of ${path}` })),
    );
  const rest = await sendAll('/categories', { name: 'REST' });
  const graphql = await sendAll('/graphql', {
    query: 'mutation { createCategory(input: { name: "GraphQL" }) { category { id } } }',
  });
  for (const service of services) {
    service.signal('SIGTERM');
    await service.ended();
  }
  const rows = await runSql(cluster.url, 'select name, count(*)::int as n from categories group by name order by name');
  expect([...new Set(rest.map(({ status }) => status))].filter((status) => status !== 409)).toEqual([201]);
  const codes = graphql.flatMap(({ body }) => body.errors ?? []).map(({ extensions }) => extensions.code);
  expect(codes.filter((code) => code !== 'CONFLICT')).toEqual([]);
  expect(rows).toEqual([
    { name: 'GraphQL', n: 1 },
    { name: 'REST', n: 1 },
  ]);
});

import { expect, it } from '@jest/globals';

import { runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '1' };
const services = await Promise.all([1, 2, 3].map(() => Service.start(settings)));

it('migrates once when three processes start on an empty database at the same time', async () => {
  const created = await services[0]!.graphql(
    'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }',
  );
  const { id } = created.body.data.createCategory.category;
  for (const service of services) {
    expect((await service.get('/readyz')).status).toBe(200);
    const { body } = await service.graphql('query ($id: ID!) { category(id: $id) { name } }', { id });
    expect(body).toEqual({ data: { category: { name: 'Dogs' } } });
  }
});

it('three processes carry out 21 requests with one Idempotency-Key once between them', async () => {
  const sendAll = (path: string, body: object) =>
    Promise.all(
      Array.from({ length: 21 }, (_, n) => services[n % 3]!.post(path, body, { 'idempotency-key': `key of ${path}` })),
    );
  const rest = await sendAll('/categories', { name: 'REST' });
  const graphql = await sendAll('/graphql', {
    query: 'mutation { createCategory(input: { name: "GraphQL" }) { category { id } } }',
  });
  expect([...new Set(rest.map(({ status }) => status))].filter((status) => status !== 409)).toEqual([201]);
  const codes = graphql.flatMap(({ body }) => body.errors ?? []).map(({ extensions }) => extensions.code);
  expect(codes.filter((code) => code !== 'CONFLICT')).toEqual([]);
  const rows = await runSql(
    cluster.url,
    `select name, count(*)::int as n from categories where name <> 'Dogs' group by name order by name`,
  );
  expect(rows).toEqual([
    { name: 'GraphQL', n: 1 },
    { name: 'REST', n: 1 },
  ]);
});

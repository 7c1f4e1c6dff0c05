import { expect, it } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';

const cluster = await startCluster();

it('migrates once when three processes start on an empty database at the same time', async () => {
  const environment = { DATABASE_URL: cluster.url, DATABASE_POOL: '1' };
  const services = await Promise.all([1, 2, 3].map(() => Service.start(environment)));
  const created = await services[0]!.graphql(
    'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }',
  );
  const { id } = created.body.data.createCategory.category;
  for (const service of services) {
    expect((await service.get('/readyz')).status).toBe(200);
    const { body } = await service.graphql('query ($id: ID!) { category(id: $id) { name } }', { id });
    expect(body).toEqual({ data: { category: { name: 'Dogs' } } });
  }
  await Promise.all(services.map((service) => service.kill()));
});

import { describe, expect, it } from '@jest/globals';

import { NestedQuota } from '../../../src/graphql/nested-quota.ts';
import { startTestApp } from '../../support/test-app.ts';
import { keyOf } from '../../platform/quotas/quota-subjects.ts';
import { threadMillis } from '../../support/measurement.ts';

describe('the parents of nested connections', () => {
  it('are 100 for each request per minute of the plan, for each key and field', async () => {
    const quota = new NestedQuota(() => 0);
    const count = quota.count.bind(quota, keyOf('a', 3));
    expect(await count('Pet.orders', 299)).toBeUndefined();
    expect(await count('Pet.orders', 1)).toBeUndefined();
    expect(await count('Pet.orders', 1)).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    expect(await count('Category.pets', 300)).toBeUndefined();
    expect(await quota.count(keyOf('b', 3), 'Pet.orders', 300)).toBeUndefined();
  });

  it('of a refused batch are not counted, and the window closes after a minute', async () => {
    let now = 0;
    const quota = new NestedQuota(() => now);
    const count = quota.count.bind(quota, keyOf('a', 1));
    await count('Pet.orders', 60);
    now = 20_500;
    expect(await count('Pet.orders', 41)).toMatchObject({ retryAfterSeconds: 40 });
    expect(await count('Pet.orders', 40)).toBeUndefined();
    now = 60_000;
    expect(await count('Pet.orders', 100)).toBeUndefined();
  });

  it('are counted exactly when many batches begin at once', async () => {
    const quota = new NestedQuota();
    const count = quota.count.bind(quota, keyOf('a', 1));
    const responses = await Promise.all(Array.from({ length: 50 }, () => count('Pet.orders', 10)));
    expect(responses.filter((refusal) => refusal === undefined)).toHaveLength(10);
  });

  it('cost the same however many there have been', async () => {
    const quota = new NestedQuota();
    const count = quota.count.bind(quota, keyOf('a', 1_000_000));
    const started = threadMillis();
    for (let batch = 0; batch < 1000; batch += 1) await count('Pet.orders', 100);
    expect(threadMillis() - started).toBeLessThan(500);
  });
});

it('a key that asks for too many parents gets null for that connection, with one error with retryAfter, and everything else', async () => {
  const service = await startTestApp();
  await service.sql(`insert into categories (id, name) values (1, 'Cats')`);
  await service.sql(`insert into pets (id, name, category_id) select n, 'Pet', 1 from generate_series(1, 60) n`);
  await service.sql('insert into inventory (pet_id, quantity) select id, 0 from pets');
  const { secret } = await service.createKey({ plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 100 });
  const both = `{ pets(first: 60) { edges { node { name first: orders(first: 1) { totalCount } second: orders(first: 2) { totalCount } } } } }`;
  const result = await service.graphql(both, {}, secret);
  expect(result.status).toBe(200);
  expect(result.errors).toEqual([
    {
      message: expect.stringMatching('Pet.orders'),
      locations: expect.any(Array),
      path: ['pets', 'edges', 0, 'node', 'second'],
      extensions: { code: 'RATE_LIMITED', status: 429, retryAfter: expect.any(Number) },
    },
  ]);
  const node = { name: 'Pet', first: { totalCount: 0 }, second: null };
  expect(result.data.pets.edges).toEqual(Array.from({ length: 60 }, () => ({ node })));
});

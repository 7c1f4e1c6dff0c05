import { expect, it } from '@jest/globals';

import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const total = 60;

it('does the work of an Idempotency-Key once, though kill -9 comes in the midst of it and everything is sent again', async () => {
  const settings = { DATA_DIR: temporaryDirectory(), DEMO: 'off' };
  const create = (service: Service, n: number) =>
    service.post('/categories', { name: `written ${n}` }, { 'idempotency-key': `key ${n}` });
  const first = await Service.start(settings);
  const acknowledged = new Map<number, unknown>();
  await Promise.allSettled(
    Array.from({ length: total }, async (_, n) => {
      const { body } = await create(first, n);
      acknowledged.set(n, body);
      if (acknowledged.size === total / 3) first.signal('SIGKILL');
    }),
  );
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

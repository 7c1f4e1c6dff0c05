import { expect, it } from '@jest/globals';

import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';

const create = 'mutation ($name: String!) { createCategory(input: { name: $name }) { category { id } } }';
const names = '{ categories(first: 100, filter: { nameContains: "written" }) { edges { node { name } } } }';
const size = '{ pets { totalCount } categories { totalCount } }';

it('has every acknowledged write after kill -9 in the midst of writing, and the demo store once', async () => {
  const settings = { DATA_DIR: temporaryDirectory() };
  const first = await Service.start(settings);
  const before = (await first.graphql(size)).body.data;
  expect(before.pets.totalCount).toBeGreaterThan(20);

  const acknowledged: string[] = [];
  const writers = Array.from({ length: 3 }, async (_, writer) => {
    for (let n = 0; ; n += 1) {
      const name = `written ${writer}-${n}`;
      await first.graphql(create, { name });
      acknowledged.push(name);
      if (acknowledged.length === 30) first.signal('SIGKILL');
    }
  });
  await Promise.allSettled(writers);
  await first.ended();

  const second = await Service.start(settings);
  const { edges } = (await second.graphql(names)).body.data.categories;
  const found = new Set((edges as { node: { name: string } }[]).map(({ node }) => node.name));
  expect(acknowledged.filter((name) => !found.has(name))).toEqual([]);
  expect((await second.graphql(size)).body.data.pets).toEqual(before.pets);
  await second.kill();
});

it('keeps a second service off its directory with a clear message, and the first one running', async () => {
  const settings = await copyEmbeddedStore();
  const first = await Service.start(settings);
  const second = new Service(settings);
  expect(await second.ended()).toBe(1);
  expect(second.output).toContain(settings.DATA_DIR);
  expect(second.output.split('\n')).toHaveLength(1);
  expect((await first.get('/readyz')).status).toBe(200);
  await first.kill();
});

it('finishes on SIGTERM what is under way, exits with 0, and has it after the next start', async () => {
  const settings = await copyEmbeddedStore();
  const first = await Service.start(settings);
  const responses = Array.from({ length: 20 }, (_, n) => first.graphql(create, { name: `written ${n}` }));
  await Promise.race(responses);
  first.signal('SIGTERM');
  const settled = await Promise.allSettled(responses);
  expect(await first.ended()).toBe(0);
  const acknowledged = settled.filter((each) => each.status === 'fulfilled' && each.value.status === 200);
  expect(acknowledged.length).toBeGreaterThan(0);

  const second = await Service.start(settings);
  const { edges } = (await second.graphql(names)).body.data.categories;
  expect(edges.length).toBeGreaterThanOrEqual(acknowledged.length);
  await second.kill();
});

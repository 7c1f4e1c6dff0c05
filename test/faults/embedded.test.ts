import { expect, it } from '@jest/globals';

import { embeddedPostgresAddress } from '../../src/platform/embedded/index.ts';
import { keysIn } from '../cli/run-keys.ts';
import { runSql } from '../support/postgres-client.ts';
import { Service } from '../support/service.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';

const total = 60;
const clients = 6;

const create = (service: Service, n: number) =>
  service.post('/categories', { name: `written ${n}` }, { 'idempotency-key': `key ${n}` });

async function namesIn(service: Service): Promise<string[]> {
  const { body } = await service.graphql('{ categories(first: 100) { edges { node { name } } } }');
  return (body.data.categories.edges as { node: { name: string } }[]).map(({ node }) => node.name);
}

it('has every acknowledged write after kill -9 and after SIGTERM, and none twice when all are sent again with their Idempotency-Key', async () => {
  const settings = await copyEmbeddedStore();
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
  const kept = new Set(await namesIn(second));
  expect([...acknowledged.keys()].filter((n) => !kept.has(`written ${n}`))).toEqual([]);
  for (let n = 0; n < total; n += 1) {
    const { status, body } = await create(second, n);
    expect([n, status, body]).toEqual([n, 201, acknowledged.get(n) ?? body]);
  }
  const written = Array.from({ length: total }, (_, n) => `written ${n}`);
  expect((await namesIn(second)).toSorted()).toEqual(written.toSorted());

  const late = Array.from({ length: 20 }, (_, n) => create(second, total + n));
  await Promise.race(late);
  second.signal('SIGTERM');
  const settled = await Promise.allSettled(late);
  expect(await second.ended()).toBe(0);
  for (const [n, each] of settled.entries())
    if (each.status === 'fulfilled' && each.value.status === 201) written.push(`written ${total + n}`);
  expect(written.length).toBeGreaterThan(total);

  // The engine, which found the files of a killed process, has said nothing beside the service.
  const said = second.output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect([said[0], said.at(-1)]).toEqual([
    expect.stringMatching(/^The store is/),
    expect.stringMatching(/^The explorer/),
  ]);

  const third = await Service.start(settings);
  expect(await namesIn(third)).toEqual(expect.arrayContaining(written));
  await third.kill();
});

it('refuses a command of a newer version, and says what to use instead', async () => {
  const settings = await copyEmbeddedStore();
  const older = await Service.start(settings);
  await runSql(
    embeddedPostgresAddress(settings.DATA_DIR),
    `delete from petstore_migrations where name = '2026-11-27-webhooks'`,
  );
  // After 15 seconds, in which one that is starting would have migrated.
  const { exitCode, stderr } = await keysIn(settings, 'list');
  expect([exitCode, stderr.split('\n')[1]]).toEqual([
    1,
    'keys: Migrations are missing in the database: 1. A service of an older version runs on it: ' +
      'use the command of its own build, or replace it by this version first.',
  ]);
  expect(await older.stop()).toBe(0);
});

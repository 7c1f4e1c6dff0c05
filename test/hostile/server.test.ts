import { afterAll, it } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { atEnd } from '../support/at-end.ts';
import { limitMemory } from '../support/memory-limit.ts';
import { startCluster } from '../support/started-cluster.ts';
import { clientAttacks } from './client-attacks.ts';
import { connectionAttacks } from './connection-attacks.ts';
import {
  endureFloods,
  endureGenerated,
  endureResults,
  generatedBy,
  generatedTimeoutMillis,
} from './generated/endure.ts';
import { pause } from './raw-requests.ts';
import { endure, expectHarmless, expectServed, expectShortHolds, printTable, timeoutMillis } from './report.ts';
import { fillStore, Target } from './target.ts';

/** What a process in a control group of 1 GiB survives. */
const limitBytes = 2 ** 30;

const memory = limitMemory(limitBytes);

const [cluster, redis] = await Promise.all([startCluster(), RedisServer.start()]);
// A key that is banned would do nothing more.
const settings = { DATABASE_URL: cluster.url, REDIS_URL: redis.url, BAN_AFTER: '0' };
const target = await Target.start(settings, (command) => memory.wrap(command));
await fillStore(settings, { categories: 1_000, pets: 100_000, description: '\u{1F408}'.repeat(2_000) });

atEnd(async () => {
  await target.service.stop();
  memory.remove();
});
afterAll(printTable);

it(
  'a quiet service, to compare with',
  async () => {
    const [responses, damages] = await endure(target, async () => {
      await pause(2);
      return '';
    });
    expectHarmless('none', responses, damages);
  },
  timeoutMillis,
);

it.each(Object.entries({ ...connectionAttacks, ...clientAttacks }))(
  'survives %s',
  async (name, attack) => {
    const [responses, damages] = await endure(target, () => attack(target));
    expectHarmless(name, responses, damages);
  },
  timeoutMillis,
);

it(
  'survives several attacks at once',
  async () => {
    const names = [
      '64 KiB of probes on each of 400 connections, unread',
      'many idle connections, and half as many that send a header a letter at a time',
      '100 results of 6 MB, unread',
      '25 keys with 2 whole collections of large rows each, unread',
      '100 documents of 400 equal fields, the last byte at once',
      'walks of 48 aliases through 1,000 categories on 8 connections',
      'bodies in 300,000 chunks of a byte',
      '200 changes of one row, atomic ones among them',
    ];
    const [responses, damages] = await endure(target, async () => {
      const all = names.map((name) => ({ ...connectionAttacks, ...clientAttacks })[name]!(target));
      return `${(await Promise.all(all)).length} attacks`;
    });
    expectHarmless('these at once', responses, damages, { isAlone: false });
  },
  timeoutMillis,
);

it(
  `is held for a short time by results of any shape and size, ${generatedBy}`,
  async () => {
    const [responses, damage] = await endureResults(target);
    expectHarmless('results, generated', responses, [damage]);
    expectShortHolds(damage);
  },
  generatedTimeoutMillis,
);

it(
  `survives 25 clients with a key each, ${generatedBy}`,
  async () => {
    const [responses, damage] = await endureGenerated(target, 25);
    expectHarmless('25 clients, generated', responses, [damage], { isAlone: false });
    expectServed(damage);
  },
  generatedTimeoutMillis,
);

it(
  `survives floods of clients without a key, ${generatedBy}`,
  async () => {
    for (const [plan, responses, damage] of await endureFloods(target)) {
      expectHarmless(plan, responses, [damage]);
      expectServed(damage);
    }
  },
  generatedTimeoutMillis,
);

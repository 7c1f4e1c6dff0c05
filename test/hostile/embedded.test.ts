import { afterAll, it } from '@jest/globals';

import { copyEmbeddedStore } from '../support/test-database.ts';
import { embeddedAttacks } from './client-attacks.ts';
import { endureFloods, endureGenerated, generatedBy, generatedTimeoutMillis } from './generated/endure.ts';
import { endure, expectHarmless, expectServed, printTable } from './report.ts';
import { fillStore, Target } from './target.ts';

const settings = await copyEmbeddedStore();
// A key that is banned would do nothing more.
const target = await Target.start({ ...settings, BAN_AFTER: '0' });
await fillStore(settings, { categories: 49, pets: 980, description: '' });

afterAll(printTable);

it.each(Object.entries(embeddedAttacks))(
  'outlives %s',
  async (name, attack) => {
    const [responses, damages] = await endure(target, () => attack(target));
    expectHarmless(name, responses, damages, { isEmbedded: true });
  },
  300_000,
);

it(
  `outlives one client with one key, ${generatedBy}`,
  async () => {
    const [responses, damage] = await endureGenerated(target, 1);
    expectHarmless('one client, generated', responses, [damage], { isEmbedded: true, isAlone: false });
  },
  generatedTimeoutMillis,
);

it(
  `outlives floods of clients without a key, ${generatedBy}`,
  async () => {
    for (const [plan, responses, damage] of await endureFloods(target)) {
      expectHarmless(plan, responses, [damage], { isEmbedded: true });
      expectServed(damage);
    }
  },
  generatedTimeoutMillis,
);

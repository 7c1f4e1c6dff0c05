import { afterAll, it } from '@jest/globals';

import { copyEmbeddedStore } from '../support/test-database.ts';
import { attacks } from './attacks.ts';
import { embeddedAttacks } from './client-attacks.ts';
import { endure, expectHarmless, printTable } from './report.ts';
import { fillStore, Target } from './target.ts';

const settings = await copyEmbeddedStore();
const target = await Target.start(settings);
await fillStore(settings, { categories: 49, pets: 980, description: '' });

afterAll(printTable);

it.each(Object.entries({ ...attacks, ...embeddedAttacks }))(
  'outlives %s',
  async (name, attack) => {
    const [responses, damages] = await endure(target, () => attack(target));
    expectHarmless(name, responses, damages, { isEmbedded: true });
  },
  300_000,
);

import { afterAll, expect, it } from '@jest/globals';

import { copyEmbeddedStore } from '../support/test-database.ts';
import { attacks } from './attacks.ts';
import { embeddedAttacks } from './client-attacks.ts';
import { endure, expectHarmless, printTable } from './report.ts';
import { Target } from './target.ts';

const target = await Target.start(await copyEmbeddedStore());
await fill();

afterAll(printTable);

/** 49 categories with 20 pets each. */
async function fill(): Promise<void> {
  for (let category = 0; category < 49; category += 1) {
    await target.graphql({ query: `mutation { createCategory(input: { name: "c${category}" }) { category { id } } }` });
  }
  for (let category = 1; category <= 49; category += 1) {
    const pets = Array.from(
      { length: 20 },
      (_, index) => `a${index}: createPet(input: { name: "pet", categoryId: ${category} }) { pet { id } }`,
    );
    const { text } = await target.graphql({ query: `mutation { ${pets.join(' ')} }` });
    expect(text).not.toMatch('errors');
  }
}

it.each(Object.entries({ ...attacks, ...embeddedAttacks }))(
  'outlives %s',
  async (name, attack) => {
    const [responses, damages] = await endure(target, () => attack(target));
    expectHarmless(name, responses, damages, { isEmbedded: true });
  },
  300_000,
);

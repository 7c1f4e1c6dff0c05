import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { temporaryDirectory } from '../support/temporary-directory.ts';
import { attacks } from './attacks.ts';
import { embeddedAttacks } from './client-attacks.ts';
import { body } from './documents.ts';
import { summary } from './raw-requests.ts';
import { endure, expectHarmless, printTable } from './report.ts';
import { Target } from './target.ts';

/** How long the generated requests go on; hours for a search, with a seed to repeat what it has found. */
const seconds = Number(process.env['HOSTILE_SECONDS'] || 10);
const seed = Number(process.env['HOSTILE_SEED'] || Date.now() % 2 ** 31);

let target: Target;

beforeAll(async () => {
  target = await Target.start({ DATA_DIR: temporaryDirectory(), DEMO: 'off' });
  await fill();
}, 120_000);

afterAll(() => {
  printTable();
});

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

it(
  `outlives ${seconds} seconds of generated requests (HOSTILE_SEED=${seed})`,
  async () => {
    const outcomes: string[] = [];
    const damage = await target.suffer(async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(body, { minLength: 8, maxLength: 8 }), async (bodies) => {
          const responses = await Promise.all(
            bodies.map(async (each) => ({ each, response: await target.graphql(each) })),
          );
          for (const { each, response } of responses) {
            outcomes.push(String(response.status));
            const problem = response.status >= 500 || response.text.includes('INTERNAL_SERVER_ERROR');
            if (problem)
              throw new Error(`${response.status} ${response.text.slice(0, 500)} to ${each.slice(0, 2_000)}`);
          }
        }),
        {
          seed,
          numRuns: 1_000_000_000,
          plugins: [fc.interruptAfterTimeLimit(seconds * 1_000)],
          endOnFailure: true,
        },
      );
    });
    expectHarmless(`generated, ${outcomes.length} requests`, summary(outcomes), [damage], { isEmbedded: true });
  },
  (seconds + 120) * 1_000,
);

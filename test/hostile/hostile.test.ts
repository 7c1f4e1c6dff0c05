import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { temporaryDirectory } from '../support/temporary-directory.ts';
import { attacks, summary } from './attacks.ts';
import { body } from './documents.ts';
import { Target, type Damage } from './target.ts';

/** How long the generated requests go on; hours for a search, with a seed to repeat what it has found. */
const seconds = Number(process.env['HOSTILE_SECONDS'] || 30);
const seed = Number(process.env['HOSTILE_SEED'] || Date.now() % 2 ** 31);

/** The contract's 250 ms are those of a quiet machine. Beside other work, the attacker's own included, everything takes longer. */
const slowness = Number(process.env['HOSTILE_FACTOR'] || 8);
const maxBlockedMillis = 250 * slowness;
const maxNeighbourMillis = 1_000 * slowness;
/** Prepared operations are kept up to some 40 MB, texts of persisted queries up to 8; the rest is garbage that V8 has no reason to collect yet. */
const maxLeftMegabytes = 200;
/** The bytes of results are a part of what it takes to make them. */
const maxPeakMegabytes = 1_024;

let target: Target;
const table: string[] = [];

beforeAll(async () => {
  target = await Target.start({ DATA_DIR: temporaryDirectory(), DEMO: 'off' });
  await fill();
}, 120_000);

afterAll(() => {
  console.info(['attack | responses | blocked ms | neighbour ms | peak MB | left MB', ...table].join('\n'));
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

function expectHarmless(name: string, responses: string, damage: Damage): void {
  const { blockedMillis, neighbourMillis, peakMegabytes, leftMegabytes, complaints } = damage;
  table.push([name, responses, blockedMillis, neighbourMillis, peakMegabytes, leftMegabytes].join(' | '));
  // A refusal because of a bound is a warning at most; nothing is unforeseen.
  expect(complaints.filter((line) => /"level":(?:50|60)/.test(line))).toEqual([]);
  expect(responses).not.toMatch(/\b500\b|INTERNAL/);
  expect(blockedMillis).toBeLessThan(maxBlockedMillis);
  expect(neighbourMillis).toBeLessThan(maxNeighbourMillis);
  expect(peakMegabytes).toBeLessThan(maxPeakMegabytes);
  expect(leftMegabytes).toBeLessThan(maxLeftMegabytes);
}

it.each(Object.entries(attacks))(
  'outlives %s',
  async (name, attack) => {
    let responses = '';
    const damage = await target.suffer(async () => {
      responses = await attack(target);
    });
    expectHarmless(name, responses, damage);
  },
  120_000,
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
    expectHarmless(`generated, ${outcomes.length} requests`, summary(outcomes), damage);
  },
  (seconds + 120) * 1_000,
);

import { expect } from '@jest/globals';
import fc from 'fast-check';

import { summary, times } from '../raw-requests.ts';
import type { Damage, Target } from '../target.ts';
import type { Scene } from './act.ts';
import { anyAct } from './kinds.ts';

/** How long the generated acts go on; hours for a search, with a seed to repeat what it has found. */
const seconds = Number(process.env['HOSTILE_SECONDS'] || 6);
const seed = Number(process.env['HOSTILE_SEED'] || Date.now() % 2 ** 31);

export const generatedBy = `generated for ${seconds} seconds by HOSTILE_SEED=${seed}`;
export const generatedTimeoutMillis = (seconds + 240) * 1_000;

const severalActs = fc.array(anyAct, { minLength: 8, maxLength: 40 });

/** Generated acts of clients with so many keys, several at a time. Returns what they got, and what they have done. */
export async function endureGenerated(target: Target, keys: number): Promise<[string, Damage]> {
  const scene = await sceneOf(target, keys);
  const outcomes: (string | number)[] = [];
  const damage = await target.suffer(async () => {
    const startedAt = performance.now();
    const isOver = (part: number): boolean => performance.now() - startedAt > part * seconds * 1_000;
    for (let round = 0; !isOver(1) || (scene.open.length < 8 * keys && !isOver(6)); round += 1) {
      const acts = fc.sample(severalActs, { seed: seed + round, numRuns: 1 }).flat();
      outcomes.push(...(await Promise.all(acts.map((act) => act.run(scene)))).flat());
    }
  });
  for (const socket of scene.open) socket.resetAndDestroy();
  expect(outcomes).toContain('stream 200');
  return [`${outcomes.length} requests: ${summary(outcomes)}`, damage];
}

async function sceneOf(target: Target, count: number): Promise<Scene> {
  const { text } = await target.graphql({ query: '{ eventCursor categories(first: 20) { nodes { nodeId } } }' });
  const { data } = JSON.parse(text) as { data: { eventCursor: string; categories: { nodes: { nodeId: string }[] } } };
  const keys = await Promise.all(times(count, (index) => target.createKey(`generated ${index}`)));
  return {
    target,
    keys,
    cursor: data.eventCursor,
    nodeIds: data.categories.nodes.map(({ nodeId }) => nodeId),
    open: [],
  };
}

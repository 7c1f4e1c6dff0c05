import { expect } from '@jest/globals';
import fc from 'fast-check';

import { summary, times } from '../raw-requests.ts';
import type { Damage, Target } from '../target.ts';
import type { Scene } from './act.ts';
import { floods } from './floods.ts';
import { anyAct } from './kinds.ts';
import { results } from './results.ts';

/** How long the generated acts go on; hours for a search, with a seed to repeat what it has found. */
export const seconds = Number(process.env['HOSTILE_SECONDS'] || 6);
export const seed = Number(process.env['HOSTILE_SEED'] || Date.now() % 2 ** 31);

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

/** Generated results of one client, one after another, so that what holds the event loop is one of them. */
export async function endureResults(target: Target): Promise<[string, Damage]> {
  const scene = await sceneOf(target, 1);
  await placeOrders(target);
  const outcomes: (string | number)[] = [];
  const damage = await target.suffer(async () => {
    const startedAt = performance.now();
    const isOver = (): boolean => performance.now() - startedAt > seconds * 1_000;
    for (let round = 0; !isOver() || (!outcomes.includes('large result') && round < 10); round += 1)
      for (const act of fc.sample(results, { seed: seed + round, numRuns: 10 }))
        outcomes.push(...(await act.run(scene)));
  });
  expect(outcomes).toContain('large result');
  return [`${outcomes.length} results: ${summary(outcomes)}`, damage];
}

/** Orders with dates, and categories that have changed, to be selected. */
async function placeOrders(target: Target): Promise<void> {
  const orders = times(40, (index) => `o${index}: createOrder(input: $order) { order { id } }`).join(' ');
  const order = { quantity: 1, shipDate: '2026-11-27T10:00:00Z' };
  const query = `mutation ($order: CreateOrderInput!) { ${orders} }`;
  const { text } = await target.graphql({ query, variables: { order } });
  expect(text).not.toContain('errors');
  for (let id = 1; id <= 20; id += 1) {
    const body = JSON.stringify({ description: `${'\u{1F408}'.repeat(1_900)}${id}` });
    const headers = { 'content-type': 'application/json' };
    expect((await target.request(`/categories/${id}`, { method: 'PATCH', headers, body })).status).toBe(200);
  }
}

/** Floods of clients without a key, one after another. Returns for each its plan, what it got and what it has done. */
export async function endureFloods(target: Target): Promise<[string, string, Damage][]> {
  const scene = await sceneOf(target, 1);
  const startedAt = performance.now();
  const floodsDone: [string, string, Damage][] = [];
  for (let round = 0; round === 0 || performance.now() - startedAt < seconds * 1_000; round += 1) {
    const [act] = fc.sample(floods, { seed: seed + round, numRuns: 1 });
    let statuses: readonly (string | number)[] = [];
    const damage = await target.suffer(async () => {
      statuses = await act!.run(scene);
    });
    floodsDone.push([JSON.stringify(act!.plan), summary(statuses), damage]);
  }
  return floodsDone;
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

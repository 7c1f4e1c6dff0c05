import { mock } from 'node:test';

import { expect, it } from '@jest/globals';

import { Accounts } from '../../../src/platform/callers/accounts.ts';
import { ApolloValidator } from '../../../src/graphql/pipeline/apollo.ts';
import { NewDocuments } from '../../../src/graphql/pipeline/new-documents.ts';
import { callers } from '../../support/caller.ts';
import { startTestApp } from '../../support/test-app.ts';

const store = await startTestApp({});

/** Documents that were not sent before, and that are refused after validation. */
let documents = 0;
const newDocument = (): string => `query New${(documents += 1)} { pets(first: 1) { edges { node { idd } } } }`;

it('no more new documents of a key are validated than its quota has left', async () => {
  const newDocuments = new NewDocuments(new Accounts(), () => undefined);
  let validated = 0;
  const requireLeft = async (): Promise<void> => {
    if (validated >= 5) throw new Error('spent');
  };
  const validate = async (): Promise<void> => void (validated += 1);
  const runs = await Promise.allSettled(
    Array.from({ length: 30 }, async () => newDocuments.run(callers.for('key'), requireLeft, validate)),
  );
  expect([validated, runs.filter(({ status }) => status === 'rejected').length]).toEqual([5, 25]);
});

it('one new document is validated in a tick of the event loop, whichever clients send them', async () => {
  const newDocuments = new NewDocuments(new Accounts(), () => undefined);
  let ticks = 0;
  const ofTicks: number[] = [];
  const tick = (): void => void setImmediate(() => (ticks += 1) < 100 && tick());
  tick();
  await Promise.all(
    Array.from({ length: 20 }, async (_, key) =>
      newDocuments.run(
        callers.for(String(key)),
        async () => undefined,
        async () => void ofTicks.push(ticks),
      ),
    ),
  );
  expect(new Set(ofTicks).size).toBe(20);
});

it('a client with one new document is served before the many of another', async () => {
  const [{ secret: busy }, { secret: calm }] = await Promise.all([
    store.createKey({ plan: 'business' }),
    store.createKey({ plan: 'business' }),
  ]);
  // From now on both keys are known without asking the database.
  for (const key of [busy, calm]) await store.graphql('{ __typename }', {}, key);
  const order: string[] = [];
  const send = async (name: string, key: string): Promise<void> => {
    await store.graphql(newDocument(), {}, key);
    order.push(name);
  };
  const many = Array.from({ length: 40 }, async () => send('busy', busy));
  await new Promise(setImmediate);
  await Promise.all([...many, send('calm', calm)]);
  expect(order.indexOf('calm')).toBeLessThan(20);
});

it('what a document has taken counts for its client, also when its validation fails', async () => {
  const { accounts } = callers;
  const before = accounts.of('key').usedMillis;
  const newDocuments = new NewDocuments(accounts, () => undefined);
  const refuse = async (): Promise<never> => {
    const { user, system } = process.cpuUsage();
    while (process.cpuUsage({ user, system }).user < 2_000);
    throw new Error('refused');
  };
  await expect(newDocuments.run(callers.for('key'), async () => undefined, refuse)).rejects.toThrow('refused');
  expect(accounts.of('key').usedMillis).toBeGreaterThan(before);
});

it('a document that many requests send at once is validated for the first two only', async () => {
  const { secret } = await store.createKey({ plan: 'business' });
  const text = 'query Popular { pets(first: 1) { edges { node { id } } } }';
  const validate = mock.method(ApolloValidator.prototype, 'validate');
  await Promise.all(Array.from({ length: 40 }, async () => store.graphql(text, {}, secret)));
  expect(validate.mock.callCount()).toBeLessThanOrEqual(2);
  validate.mock.restore();
});

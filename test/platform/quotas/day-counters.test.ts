import { expect, it } from '@jest/globals';

import { startAccessProcess } from '../../support/access-process.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { keyOf } from './quota-subjects.ts';
import { awaitValue } from '../../support/until.ts';

const { database } = await openTestDatabase();

it.each([
  ['a key', '1'],
  ['ADMIN_API_KEY', 'admin'],
])('the day counter of %s is complete after an orderly end, and the window is the same one', async (_whose, id) => {
  const key = keyOf(id, 1_000, 50);
  const first = await startAccessProcess(database);
  const [spent] = await Promise.all(Array.from({ length: 30 }, async () => first.quota.consume(key, 1)));
  await first.close();

  const second = await startAccessProcess(database);
  const { day } = await second.quota.peek(key);
  expect({ remaining: day.remaining, resetsAt: day.resetsAt }).toEqual({
    remaining: 20,
    resetsAt: spent?.day.resetsAt,
  });
  const decisions = await Promise.all(Array.from({ length: 30 }, async () => second.quota.consume(key, 1)));
  expect(decisions.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(20);
  await second.close();
});

it('a process that does not end in order loses no more than the last second of its day counters', async () => {
  const key = keyOf('2');
  const endless = await startAccessProcess(database);
  await Promise.all(Array.from({ length: 30 }, async () => endless.quota.consume(key, 1)));
  const spentAt = performance.now();
  const remaining = async (): Promise<number> => {
    const next = await startAccessProcess(database);
    const { day } = await next.quota.peek(key);
    await next.close();
    return day.remaining;
  };
  expect(await awaitValue(remaining, (left) => left < 1_000)).toBe(970);
  // Twice as long, for a busy machine.
  expect(performance.now() - spentAt).toBeLessThan(2_000);
  await endless.close();
});

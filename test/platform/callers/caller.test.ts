import { setImmediate } from 'node:timers/promises';
import { mock } from 'node:test';

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { waiting } from '../../../src/platform/callers/caller.ts';
import { Share } from '../../../src/platform/callers/share.ts';
import { callers } from '../../support/caller.ts';

const waitMillis = 2_000;
const stepMillis = 10;
let now = 0;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => now);
});

afterEach(() => {
  mock.restoreAll();
  mock.timers.reset();
});

async function pass(millis: number): Promise<void> {
  for (let passed = 0; passed < millis; passed += stepMillis) {
    now += stepMillis;
    mock.timers.tick(stepMillis);
    await setImmediate();
  }
}

/** Something that another client gives back after so many milliseconds. */
function takenFor(millis: number): Share {
  const { accounts } = callers;
  const share = new Share(accounts, { ofClient: 1, ofAll: 1, waitMillis, refuse: () => new Error('refused') });
  const lease = share.takeNow(callers.for('other'));
  setTimeout(() => lease.release(), millis);
  return share;
}

const step = fc.record({
  /** What it does before without waiting, and how long it then waits for each of several things at once. */
  busy: fc.integer({ min: 0, max: 20 }),
  waits: fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 3 }),
});

it('waits for 2 s in all, whatever it waits for one after another or at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const caller = callers.for('one');
      let waited = 0;
      for (const { busy, waits } of steps) {
        await pass(busy * stepMillis);
        const longest = Math.max(...waits) * stepMillis;
        const outcomes: string[] = [];
        for (const each of waits) {
          takenFor(each * stepMillis)
            .take(caller)
            .then(
              () => outcomes.push('granted'),
              () => outcomes.push('refused'),
            );
        }
        const left = waitMillis - waited;
        const expected = waits.map((each) => (each * stepMillis < left ? 'granted' : 'refused'));
        await pass(Math.min(longest, left));
        waited += Math.min(longest, left);
        // A refusal of who has nothing left comes with the next tick.
        if (waited === waitMillis) await pass(stepMillis);
        // At the same moment either comes first.
        if (!waits.some((each) => each * stepMillis === left)) expect(outcomes.toSorted()).toEqual(expected.toSorted());
        expect(caller.waitedMillis - waited).toBeLessThanOrEqual(steps.length * stepMillis);
      }
    }),
    { numRuns: 40 },
  );
});

it('one that goes on for longer than requests do waits anew', async () => {
  const caller = callers.for('one');
  const refused = takenFor(60_000).take(caller);
  refused.catch(() => undefined);
  await pass(waitMillis);
  await expect(refused).rejects.toThrow('refused');
  await pass(3_000);
  expect(caller.waitedMillis).toBe(waitMillis);
  await pass(100);
  expect(caller.waitedMillis).toBe(0);
});

it('one whose client has gone does nothing more, unless it has begun to write', () => {
  const [reading, writing] = [callers.for('one'), callers.for('one')];
  writing.recordWrite();
  for (const caller of [reading, writing]) caller.abort(new Error('gone'));
  expect([reading.failure?.message, writing.failure]).toEqual(['gone', undefined]);
});

it('the waits and failures of work of the service are its own, and end nothing', async () => {
  const own = callers.service('sweep');
  own.beginWait();
  await pass(waitMillis);
  own.endWait();
  own.fail(new Error('lost'));
  expect([own.waitedMillis, own.failure]).toEqual([0, undefined]);
});

it('a caller apart has waited as long, and lives on', async () => {
  const caller = callers.for('one');
  await waiting(
    caller,
    setImmediate().then(() => pass(500)),
  );
  const apart = caller.apart();
  caller.fail(new Error('lost'));
  expect([apart.waitedMillis, apart.failure]).toEqual([500, undefined]);
});

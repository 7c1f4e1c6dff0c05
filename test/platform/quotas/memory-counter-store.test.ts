import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { QuotaSubject } from '../../../src/platform/quotas/counter-store.ts';
import { MemoryCounterStore } from '../../../src/platform/quotas/memory-counter-store.ts';
import { collectGarbage } from '../../support/measurement.ts';
import { addressOf, keyOf, one } from './quota-subjects.ts';
import { edges, QuotaModel, scenarios } from './quota-model.ts';

describe('the counters of one process', () => {
  it('decide as the contract says, whatever is asked when, and whatever an operator does meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const model = new QuotaModel(scenario);
        const store = new MemoryCounterStore({ rules: scenario.rules, now: () => model.now });
        for (const step of scenario.steps) {
          if (step.kind === 'request') {
            const decision = store.decide(model.subject('key:1'), step);
            expect(decision).toEqual(model.request(step));
          } else {
            model.apply(step);
          }
        }
      }),
      { numRuns: 2_000, examples: edges },
    );
  });
});

describe('the counters of one process, many at a time', () => {
  const rules = { banAfter: 0, banForSeconds: 1 };

  it('forget those whose windows have closed, a few with each new one', () => {
    let now = 1_800_000_000_000;
    const store = new MemoryCounterStore({ rules, now: () => now });
    const come = (first: number, count: number): void => {
      for (let id = first; id < first + count; id += 1) {
        store.decide(keyOf(String(id)), one);
      }
    };
    come(0, 10_000);
    expect(store.size).toBe(10_000);
    now += 86_400_000;
    come(10_000, 10_000);
    expect(store.size).toBeLessThanOrEqual(11_000);
  });

  it.each([
    ['counted here', (store: MemoryCounterStore, subject: QuotaSubject) => store.decide(subject, one)],
    [
      'restored from what Redis has decided',
      (store: MemoryCounterStore, subject: QuotaSubject) => {
        const now = Date.now();
        const spent = { openedAt: now, spent: 1 };
        const unbanned = { bannedUntil: 0, banEpoch: 0, isBanNew: false };
        store.restore(subject, { outcome: 'admitted', now, minute: spent, day: { ...spent }, ...unbanned });
      },
    ],
  ])('take less than 46 MB for as many addresses as are remembered, %s', (_how, count) => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const store = new MemoryCounterStore({ rules, now: Date.now });
    for (let index = 0; index < 100_100; index += 1) {
      count(store, addressOf(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`));
    }
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(46e6);
    expect(store.size).toBe(100_000);
  });

  it('never keep more addresses than they may, and no key is forgotten for one', () => {
    const store = new MemoryCounterStore({ rules, now: Date.now, maxAddresses: 100 });
    const key = keyOf('1', 1);
    store.decide(key, one);
    for (let id = 0; id < 10_000; id += 1) {
      store.decide(addressOf(String(id)), one);
    }
    expect(store.size).toBe(101);
    expect(store.decide(key, one).outcome).toBe('refused');
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { MemoryCounterStore } from '../../../src/database/counters/memory-counter-store.ts';
import { QuotaModel, scenarios } from '../../domain/quota/quota-model.ts';

describe('the counters of one process', () => {
  it('decide as the contract says, whatever is asked when, and whatever an operator does meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const model = new QuotaModel(scenario);
        const store = new MemoryCounterStore({ rules: scenario.rules, now: () => model.now });
        for (const step of scenario.steps) {
          if (step.kind === 'request') {
            const decision = await store.decide(model.subject('key:1'), step);
            expect(decision).toEqual(model.request(step.needs, step.spends));
          } else {
            model.apply(step);
          }
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

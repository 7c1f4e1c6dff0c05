import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { FallbackCounterStore } from '../../../src/platform/quotas/fallback-counter-store.ts';
import { decide, newCounter } from '../../../src/platform/quotas/counter.ts';
import { keyOf, one } from './quota-subjects.ts';

const rules = { banAfter: 1, banForSeconds: 600 };
const minutes = 60_000;

it("a ban ends by the database's clock, whatever that of the shared counters says, and one that they begin is kept by it", async () => {
  const ahead = fc.integer({ min: -100 * minutes, max: 100 * minutes });
  await fc.assert(
    fc.asyncProperty(ahead, fc.boolean(), async (aheadMillis, isLost) => {
      let databaseNow = Date.now();
      const counter = newCounter();
      let lose: (reason: unknown) => void = () => undefined;
      const store = await FallbackCounterStore.open({
        rules,
        onSharedChange: () => undefined,
        databaseNow: () => databaseNow,
        connect: async (onError) => {
          lose = onError;
          return {
            connectedAt: databaseNow + aheadMillis,
            decide: async (subject, charge) => decide(counter, subject, charge, rules, databaseNow + aheadMillis),
            close: () => undefined,
          };
        },
      });
      const ask = (bannedUntil: number) =>
        store.decide({ ...keyOf('1', 1), bans: { epoch: 0, bannedUntil, automaticBans: [] } }, one);
      await ask(0);
      if (isLost) lose(new Error('gone'));
      const decision = await ask(databaseNow + 10 * minutes);
      expect(decision).toMatchObject({ outcome: 'banned', retryAfterSeconds: expect.closeTo(600, -1) });
      expect((await ask(databaseNow - 1_000)).outcome).toBe('refused');
      if (!isLost) {
        databaseNow += 3_000;
        await ask(0);
        const { begun } = (await ask(0)) as { readonly begun?: { readonly until: number } };
        expect(begun?.until).toBeGreaterThan(databaseNow + 9 * minutes);
        expect(begun?.until).toBeLessThan(databaseNow + 11 * minutes);
      }
      store.close();
    }),
    { numRuns: 50 },
  );
});

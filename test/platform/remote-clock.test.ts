import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { RemoteClock } from '../../src/platform/remote-clock.ts';

const day = 86_400_000;

/** A reading, after a while: how long it took on the way there and back, and by what the other clock has jumped. */
const reading = fc.record({
  afterMillis: fc.integer({ min: 1, max: 100_000 }),
  thereMillis: fc.integer({ min: 0, max: 2_000 }),
  backMillis: fc.integer({ min: 0, max: 2_000 }),
  jumpMillis: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: -2 * day, max: 2 * day })),
});

it('it is the other clock to within half a round trip, whatever this one says, and believes a jump forth after two minutes', () => {
  fc.assert(
    fc.property(fc.array(reading, { minLength: 1, maxLength: 40 }), fc.integer(), (readings, wrongBy) => {
      let monotonic = 0;
      let ahead = Date.now();
      let roundTrip = Infinity;
      /** What it was ahead by before its jumps, and until when. */
      const had: { readonly ahead: number; until: number }[] = [];
      const clock = new RemoteClock(
        () => ahead + wrongBy,
        () => monotonic,
      );
      for (const [index, { afterMillis, thereMillis, backMillis, jumpMillis }] of readings.entries()) {
        monotonic += afterMillis;
        const isSeen = Math.abs(jumpMillis) > 10_000;
        if (isSeen && index > 0) {
          had.push({ ahead, until: monotonic });
          ahead += jumpMillis;
          roundTrip = Infinity;
        }
        const askedAt = clock.start();
        monotonic += thereMillis;
        const millis = monotonic + ahead;
        monotonic += backMillis;
        clock.record(millis, askedAt);
        roundTrip = Math.min(roundTrip + afterMillis, thereMillis + backMillis);
        const now = monotonic + ahead;
        expect(Math.abs(clock.now() - now)).toBeLessThanOrEqual(roundTrip + 15);
        const recent = had.filter(({ until }) => monotonic - until < 100_000).map((each) => monotonic + each.ahead);
        expect(clock.settled()).toBeLessThanOrEqual(Math.min(now, ...recent) + 4_000);
      }
      monotonic += 120_001;
      expect(Math.abs(clock.settled() - clock.now())).toBeLessThanOrEqual(1_000);
    }),
  );
});

import { expect, it } from '@jest/globals';
import { Histogram, Registry } from 'prom-client';

import { HistogramTally } from '../../src/http/observe/tally.ts';

it("writes a histogram as Prometheus' own client does", async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const bounds = [0.001, 0.5, 10];
  const tally = new HistogramTally('seconds', 'How long.', 'operation', bounds, ours);
  const histogram = new Histogram({
    name: 'seconds',
    help: 'How long.',
    labelNames: ['operation'],
    buckets: bounds,
    registers: [theirs],
  });
  // On a bound, between two, and above all.
  for (const value of [0, 0.001, 0.0011, 0.5, 7, 10, 11]) {
    for (const operation of ['query pets', 'none']) {
      tally.add(operation, value);
      histogram.observe({ operation }, value);
    }
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
});

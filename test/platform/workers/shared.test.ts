import { PassThrough } from 'node:stream';

import { expect, it } from '@jest/globals';
import { Counter, Gauge, Registry } from 'prom-client';

import { SlotCounts } from '../../../src/platform/workers/slot-counts.ts';
import { SummedMetrics } from '../../../src/platform/workers/summed-metrics.ts';
import { forwardLines } from '../../../src/platform/workers/whole-lines.ts';

it('a client holds so many in all workers together, and what it held in one that has ended is free', () => {
  const slots = new SlotCounts();
  const take = (worker: number, client = 'a') => slots.take(worker, 'streams', client, 3);
  expect([take(1), take(1), take(2), take(2)]).toEqual([undefined, undefined, undefined, 3]);
  expect(take(2, 'b')).toBeUndefined();
  slots.release(2, 'streams', 'a');
  expect([take(2), take(1)]).toEqual([undefined, 3]);
  slots.releaseAll(1);
  expect([take(2), take(2), take(2)]).toEqual([undefined, undefined, 3]);
  // More than once, or after its worker has ended.
  slots.release(1, 'streams', 'a');
  expect(take(2)).toBe(3);
});

it('counters of workers that have ended stay in the sum, gauges go, and what is of one event loop has its worker', async () => {
  const summed = new SummedMetrics();
  const metricsOf = async (count: number) => {
    const registers = [new Registry()];
    new Counter({ name: 'requests_total', help: 'x', registers }).inc(count);
    new Gauge({ name: 'open', help: 'x', registers }).set(count);
    new Gauge({ name: 'nodejs_eventloop_lag_seconds', help: 'x', registers }).set(count);
    return JSON.parse(JSON.stringify(await registers[0]!.getMetricsAsJSON()));
  };
  for (let worker = 1; worker <= 5; worker += 1) {
    summed.record(String(worker), await metricsOf(worker));
    if (worker > 2) summed.end(String(worker));
    await Promise.all([summed.registry(), summed.registry()]);
  }
  const text = await (await summed.registry()).metrics();
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'requests_total 15',
    'open 3',
    'nodejs_eventloop_lag_seconds{worker="1"} 1',
    'nodejs_eventloop_lag_seconds{worker="2"} 2',
  ]);
});

it('only whole lines are handed on, in their bytes, one after another, and a last one that is cut off is told', async () => {
  const source = new PassThrough();
  const taken: string[] = [];
  let isTaking = false;
  let cutLines = 0;
  const take = async (lines: Buffer): Promise<void> => {
    expect(isTaking).toBe(false);
    isTaking = true;
    await new Promise(setImmediate);
    taken.push(lines.toString());
    isTaking = false;
  };
  const forwarding = forwardLines(source, take, () => (cutLines += 1));
  const bytes = Buffer.from('{"a":"ä"}\n{"b":2}\n{"c":3}\n{"d"');
  for (let at = 0; at < bytes.length; at += 4) {
    source.write(bytes.subarray(at, at + 4));
    await new Promise(setImmediate);
  }
  source.end();
  await forwarding;
  expect(cutLines).toBe(1);
  expect(taken.join('')).toBe('{"a":"ä"}\n{"b":2}\n{"c":3}\n');
  for (const each of taken) expect(each.endsWith('\n')).toBe(true);
});

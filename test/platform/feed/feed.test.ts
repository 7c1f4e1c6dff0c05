import { mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { afterEach, expect, it } from '@jest/globals';

import { Feed, type Position } from '../../../src/platform/feed/feed.ts';
import { until } from '../../support/until.ts';
import { bytesOf, MemoryLog, positionAt, type SampleEvent } from './memory-log.ts';

const outage = new Error('outage');
const feeds: Feed<SampleEvent>[] = [];

afterEach(() => {
  for (const feed of feeds.splice(0)) feed.stop();
});

function feedOf(log: MemoryLog, observers: { onTick?: () => void; onFailure?: (error: unknown) => void } = {}) {
  const feed = new Feed<SampleEvent>({
    log,
    bytesOf,
    isOutage: (error) => error === outage,
    onTick: () => undefined,
    onFailure: () => undefined,
    ...observers,
  });
  feeds.push(feed);
  return feed;
}

async function follow(log: MemoryLog): Promise<Feed<SampleEvent>> {
  const feed = feedOf(log);
  await until(() => feed.end !== undefined);
  return feed;
}

async function readAll(feed: Feed<SampleEvent>, log: MemoryLog): Promise<void> {
  await until(() => {
    feed.readNow();
    return feed.end === log.events.at(-1)?.position;
  });
}

/** The numbers of the positions after this one that are in memory, one after another. */
function inMemoryAfter(feed: Feed<SampleEvent>, after: Position): string[] {
  const found: string[] = [];
  for (let next = feed.after(after); next !== undefined && next !== 'end'; next = feed.after(next.position))
    found.push(next.position.replace(':7', ''));
  return found;
}

it('the last 10,000 events are in memory, without a gap, and no older one', async () => {
  const log = new MemoryLog();
  const feed = await follow(log);
  log.add(10_500);
  await readAll(feed, log);
  expect(inMemoryAfter(feed, positionAt(500))).toEqual(
    Array.from({ length: 10_000 }, (_, index) => String(501 + index)),
  );
  expect([feed.after(positionAt(499)), feed.after(positionAt(501, 8))]).toEqual([undefined, undefined]);
  expect(feed.after(positionAt(10_500))).toBe('end');
});

it('who waits at the end needs no statement of its own for the next event', async () => {
  const log = new MemoryLog();
  log.add(3);
  const feed = await follow(log);
  expect(feed.after(positionAt(3))).toBe('end');
  log.add(2);
  await readAll(feed, log);
  expect(inMemoryAfter(feed, positionAt(3))).toEqual(['4', '5']);
});

it('it begins anew when the log has lost its end, and nothing from before is in memory', async () => {
  const log = new MemoryLog();
  const feed = await follow(log);
  log.add(5);
  await readAll(feed, log);
  const { restarts } = feed;
  log.events.splice(3);
  log.add(1, 'another');
  log.events.push({ position: positionAt(5, 8), text: '' });
  await until(() => {
    feed.readNow();
    return feed.restarts !== restarts;
  });
  expect([1, 2, 3, 4].map((number) => feed.after(positionAt(number)))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([feed.after(positionAt(5)), feed.after(positionAt(5, 8))]).toEqual([undefined, 'end']);
});

it('what this process has added to the log is read at once', async () => {
  const log = new MemoryLog();
  log.add(1);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const feed = feedOf(log);
    mock.timers.tick(0);
    await new Promise((resolve) => setImmediate(resolve));
    const reads = log.limits.length;
    mock.timers.tick(0);
    expect(log.limits.length).toBe(reads);
    feed.readNow();
    mock.timers.tick(0);
    expect(log.limits.length).toBe(reads + 1);
  } finally {
    mock.timers.reset();
  }
});

it('events in memory take 16 MiB at most', async () => {
  const log = new MemoryLog();
  const feed = await follow(log);
  log.add(3_000, 'x'.repeat(8_000));
  await readAll(feed, log);
  const kept = inMemoryAfter(feed, log.events.find(({ position }) => feed.after(position) !== undefined)!.position);
  expect(kept.length).toBeGreaterThan(900);
  expect(kept.length * 16_000).toBeLessThan(16 * 1024 * 1024);
  expect(kept.at(-1)).toBe('3000');
});

it('no statement is sent for readers that have left, not even after the one under way', async () => {
  const log = new MemoryLog();
  const held: (() => void)[] = [];
  let isHeld = false;
  const readAfter = log.readAfter.bind(log);
  log.readAfter = async (...parameters) => {
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    return readAfter(...parameters);
  };
  const feed = await follow(log);
  isHeld = true;
  feed.readNow();
  await until(() => held.length === 1);
  feed.stop();
  held[0]?.();
  await setTimeout(300);
  feed.readNow();
  await setTimeout(1);
  expect(held).toHaveLength(1);
});

it('a failure other than a lost database is reported once until it has passed', async () => {
  const log = new MemoryLog();
  const failures: unknown[] = [];
  let ticks = 0;
  const feed = feedOf(log, { onTick: () => (ticks += 1), onFailure: (error) => failures.push(error) });
  await until(() => feed.end !== undefined);
  for (let time = 0; time < 2; time += 1) {
    log.failures = [outage, new Error('unreadable')];
    const before = ticks;
    await until(() => {
      feed.readNow();
      return ticks > before + 3;
    });
    log.failures = undefined;
    log.add(1);
    await readAll(feed, log);
  }
  expect(failures).toEqual([new Error('unreadable'), new Error('unreadable')]);
});

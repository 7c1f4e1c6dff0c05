import { mock } from 'node:test';

import { afterEach, expect, it } from '@jest/globals';

import { currentRequest } from '../../../src/domain/access/current-request.ts';
import { unavailable } from '../../../src/domain/errors.ts';
import type { EventPosition, StoreEvent } from '../../../src/domain/events/event.ts';
import type { EventsAfter } from '../../../src/domain/events/event.store.ts';
import { EventFeed } from '../../../src/graphql/streams/event-feed.ts';
import { EventStream } from '../../../src/graphql/streams/event-stream.ts';
import type { StreamSelection } from '../../../src/graphql/streams/stream-selection.ts';
import { until } from '../../support/until.ts';

const positionAt = (number: number, salt = '7'): EventPosition =>
  ({ position: String(number), salt }) as unknown as EventPosition;

const eventAt = (number: number, description = ''): StoreEvent => ({
  ...positionAt(number),
  type: 'category.created',
  at: new Date(0),
  subject: { noun: 'category', row: { id: String(number), name: 'n', description } as never },
});

/** A log in memory, which counts what is read of it. */
class Log {
  readonly events: StoreEvent[] = [];
  readonly limits: number[] = [];
  readonly readers = new Set<string | undefined>();
  /** What the next reads fail with, the last of them all later ones. */
  failures: Error[] | undefined;

  last(): Promise<EventPosition> {
    return Promise.resolve(this.events.at(-1) ?? positionAt(0));
  }

  async readAfter(after: EventPosition | undefined, limit: number): Promise<EventsAfter> {
    this.limits.push(limit);
    this.readers.add(currentRequest()?.clientId);
    const { failures } = this;
    if (failures !== undefined) throw (failures.length > 1 ? failures.shift() : failures[0]) as Error;
    const events = this.events.slice(Number(after?.position ?? 0)).slice(0, limit);
    return { isKnown: true, last: await this.last(), events };
  }

  add(count: number, description?: string): void {
    for (let added = 0; added < count; added += 1) this.events.push(eventAt(this.events.length + 1, description));
  }
}

const feeds: EventFeed[] = [];

afterEach(() => {
  for (const feed of feeds.splice(0)) feed.stop();
});

async function follow(log: Log, onTick: () => void = () => undefined): Promise<EventFeed> {
  const feed = new EventFeed({ log, onTick, onFailure: () => undefined });
  feeds.push(feed);
  feed.start();
  await until(() => feed.end !== undefined);
  return feed;
}

async function readAll(feed: EventFeed, log: Log): Promise<void> {
  await until(() => {
    feed.readNow();
    return feed.end?.position === log.events.at(-1)?.position;
  });
}

/** The positions after this one that are in memory, one after another. */
function inMemoryAfter(feed: EventFeed, after: EventPosition): string[] {
  const found: string[] = [];
  for (let number = feed.numberAfter(after) ?? -1; feed.get(number) !== undefined; number += 1)
    found.push(feed.get(number)!.position);
  return found;
}

it('the last 10,000 events are in memory, without a gap, and no older one', async () => {
  const log = new Log();
  const feed = await follow(log);
  log.add(10_500);
  await readAll(feed, log);
  expect(inMemoryAfter(feed, positionAt(501))).toEqual(
    Array.from({ length: 9_999 }, (_, index) => String(502 + index)),
  );
  expect([feed.numberAfter(positionAt(499)), feed.numberAfter(positionAt(501, '8'))]).toEqual([undefined, undefined]);
  expect(feed.has(feed.numberAfter(positionAt(10_500))!)).toBe(true);
});

it('what this process has added to the log is read at once', async () => {
  const log = new Log();
  const feed = await follow(log);
  feed.stop();
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    feed.start();
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
  const log = new Log();
  const feed = await follow(log);
  log.add(3_000, 'x'.repeat(8_000));
  await readAll(feed, log);
  const kept = Array.from({ length: 3_000 }, (_, index) => positionAt(index + 1)).filter(
    (position) => feed.numberAfter(position) !== undefined,
  );
  expect(kept.length).toBeGreaterThan(900);
  expect(kept.length * 16_000).toBeLessThan(16 * 1024 * 1024);
  expect(kept.at(-1)).toEqual(positionAt(3_000));
});

/** A stream after the tenth event, whose own reads are of this log. */
function streamOf(feed: EventFeed, own: Log): EventStream {
  return new EventStream(
    {
      feed,
      events: own,
      clientId: 'key',
      ticks: { enter: (_clientId, begin) => begin() },
      selection: { textOf: ({ position }: StoreEvent) => position } as unknown as StreamSelection,
      matches: undefined,
      framing: { contentType: '', opening: '', keepAlive: '', result: (body) => `${body},`, end: (body) => body },
      onFailure: (error) => {
        throw error;
      },
      onClose: () => undefined,
    },
    positionAt(10),
  );
}

it.each([
  ['', 100],
  ['x'.repeat(8_000), 4],
])(
  'a stream that is behind reads 100 events at a time as its key, keeps 64 KiB of them, and reads on when the client has taken those',
  async (description, kept) => {
    const log = new Log();
    log.add(5_000);
    const feed = await follow(log);
    const own = new Log();
    own.add(kept * 50, description);
    const stream = streamOf(feed, own);
    stream.send();
    await until(() => own.limits.length > 0);
    // Nothing has been read of it.
    for (let tick = 0; tick < 20; tick += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      stream.send();
    }
    expect(own.limits.length).toBeLessThanOrEqual(2);
    let text = '';
    stream.on('data', (chunk: string) => (text += chunk));
    await until(() => {
      stream.send();
      return text.endsWith(`,${kept * 50},`);
    });
    expect(text).toBe(Array.from({ length: kept * 50 - 10 }, (_, index) => `${index + 11},`).join(''));
    expect([new Set(own.limits), own.readers]).toEqual([new Set([100]), new Set(['key'])]);
    expect(own.limits.length).toBeGreaterThanOrEqual(49);
    stream.destroy();
  },
);

it('what was read for readers that have left counts for nothing, and reads on once', async () => {
  const log = new Log();
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
  feed.start();
  await until(() => held.length === 2);
  log.add(3);
  isHeld = false;
  for (const resolve of held) resolve();
  await readAll(feed, log);
  expect(inMemoryAfter(feed, positionAt(0))).toEqual([]);
  const first = feed.numberAfter(positionAt(1))! - 1;
  expect([-1, 0, 1, 2, 3].map((index) => feed.get(first + index)?.position)).toEqual([
    undefined,
    '1',
    '2',
    '3',
    undefined,
  ]);
});

it('a failure other than a lost database is reported once until it has passed', async () => {
  const log = new Log();
  const failures: unknown[] = [];
  let ticks = 0;
  const feed = new EventFeed({ log, onTick: () => (ticks += 1), onFailure: (error) => failures.push(error) });
  feeds.push(feed);
  feed.start();
  await until(() => feed.end !== undefined);
  for (let time = 0; time < 2; time += 1) {
    log.failures = [unavailable(undefined), new Error('unreadable')];
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

import { mock } from 'node:test';
import { Writable } from 'node:stream';

import { afterEach, beforeEach, expect, it } from '@jest/globals';

import type { StreamSource, StreamTerms, Subscriber } from '../../../src/platform/feed/stream.ts';
import { FeedStreams } from '../../../src/platform/feed/streams.ts';
import { onBackgroundFailure } from '../../../src/platform/background.ts';
import { bytesOf, MemoryLog, positionAt, type SampleEvent } from './memory-log.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const terms: StreamTerms = {
  keepAliveMillis: 15 * seconds,
  lifeMillis: 60 * minutes,
  millisOfUnit: 5 * minutes,
  eventsOfUnit: 1_000,
  bytesOfUnit: 2 ** 20,
};

let now = 0;

beforeEach(() => {
  now = 0;
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  mock.method(performance, 'now', () => now);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

async function settle(): Promise<void> {
  for (let tick = 0; tick < 40; tick += 1) await new Promise(setImmediate);
}

/** The first look at the times of streams at or after this one. */
async function passTo(time: number): Promise<void> {
  now = time;
  mock.timers.tick(200);
  await settle();
}

/** A subscriber with so many units; `charges` are those that were asked for. */
class Purse implements Subscriber {
  readonly charges: number[] = [];
  minute = Infinity;
  day = Infinity;

  findEnd() {
    return Promise.resolve(undefined);
  }

  charge(units: number) {
    this.charges.push(units);
    const spent = Math.min(units, this.minute, this.day);
    this.minute -= spent;
    this.day -= spent;
    return Promise.resolve({
      spent,
      end: spent < units && this.day < 1 ? { code: 'SPENT', body: 'spent' } : undefined,
    });
  }
}

function streamsOf(log: MemoryLog): FeedStreams<SampleEvent> {
  return new FeedStreams<SampleEvent>({
    log,
    bytesOf,
    terms,
    isOutage: () => false,
    onFailure: (error) => {
      throw error;
    },
    lasted: () => ({ code: 'LASTED', body: 'lasted' }),
    draining: () => ({ code: 'DRAINING', body: 'draining' }),
  });
}

function open(streams: FeedStreams<SampleEvent>, subscriber: Subscriber, output?: Writable) {
  let text = '';
  const collecting = new Writable({
    write: (chunk, _encoding, callback) => {
      text += String(chunk);
      callback();
    },
  });
  const source: StreamSource<SampleEvent> = {
    subscriber,
    output: output ?? collecting,
    after: positionAt(0),
    framing: { contentType: '', opening: '', keepAlive: ':', result: (body) => body, end: (body) => body },
    matches: undefined,
    textOf: ({ text: body }) => body,
    readAfter: () => Promise.reject(new Error('unexpected')),
    turn: setImmediate,
    hold: () => true,
    endOf: (error) => {
      throw error;
    },
    onClose: () => undefined,
  };
  return { stream: streams.begin(source), output: source.output, text: () => text };
}

/** Adds events, and reads them. */
async function add(streams: FeedStreams<SampleEvent>, log: MemoryLog, count: number, text = 'x'): Promise<void> {
  log.add(count, text);
  // 2,000 at a time.
  for (let read = 0; read <= count / 2_000; read += 1) {
    streams.readNow();
    mock.timers.tick(0);
    await settle();
  }
}

it('a stream is kept alive every 15 s', async () => {
  const { text } = open(streamsOf(new MemoryLog()), new Purse());
  for (const [time, comments] of [
    [15 * seconds - 1, 0],
    [15 * seconds, 1],
    [30 * seconds - 1, 1],
    [30 * seconds, 2],
  ] as const) {
    await passTo(time);
    expect([time, text()]).toEqual([time, ':'.repeat(comments)]);
  }
});

it.each([
  [0, 54],
  [0.5, 60],
  [1, 66],
])('a stream lasts an hour, a tenth more or less by chance: with %s it is %s minutes', async (chance, lasts) => {
  mock.method(Math, 'random', () => chance);
  const { stream } = open(streamsOf(new MemoryLog()), new Purse());
  await passTo(lasts * minutes - 1);
  expect(stream.endCode).toBeUndefined();
  // 3,600,000 × 1.1 is a little more than that.
  await passTo(lasts * minutes + 1);
  expect(stream.endCode).toBe('LASTED');
});

it('the opening pays for five minutes, and each further five minutes begun cost 1, in one charge for all of a key', async () => {
  const streams = streamsOf(new MemoryLog());
  const purse = new Purse();
  open(streams, purse);
  open(streams, purse);
  for (const [time, charges] of [
    [5 * minutes - 1, []],
    [5 * minutes, [2]],
    [10 * minutes - 1, [2]],
    [10 * minutes, [2, 2]],
  ] as const) {
    await passTo(time);
    expect([time, purse.charges]).toEqual([time, charges]);
  }
});

it.each([
  ['1,000 events', [1_999, 1, 999, 1], 'x', [[], [1], [1], [1, 1]]],
  ['MiB', [31, 1, 15, 1], 'x'.repeat(2 ** 16), [[], [1], [1], [1, 1]]],
] as const)(
  'each %s beyond the first cost 1 when they have been sent in full',
  async (_unit, steps, text, expected) => {
    const log = new MemoryLog();
    const streams = streamsOf(log);
    const purse = new Purse();
    open(streams, purse);
    await passTo(1);
    for (const [index, count] of steps.entries()) {
      await add(streams, log, count, text);
      await passTo(now + 200);
      expect(purse.charges).toEqual(expected[index]);
    }
  },
);

it('a stream waits while the minute has nothing left, and goes on without a gap when it has', async () => {
  const log = new MemoryLog();
  const streams = streamsOf(log);
  const purse = new Purse();
  purse.minute = 0;
  const { stream } = open(streams, purse);
  await passTo(1);
  await add(streams, log, 2_000);
  await passTo(now + 200);
  expect(purse.charges.length).toBeGreaterThan(0);
  await add(streams, log, 500);
  await passTo(now + 200);
  expect([stream.sent, stream.endCode]).toEqual([2_000, undefined]);
  purse.minute = 1;
  await passTo(now + 200);
  await passTo(now + 200);
  expect([stream.sent, stream.endCode]).toEqual([2_500, undefined]);
});

it('a stream ends when the day has nothing left, and sends no more than four units before it is charged', async () => {
  const log = new MemoryLog();
  const streams = streamsOf(log);
  const purse = new Purse();
  purse.day = 2;
  const { stream } = open(streams, purse);
  await passTo(1);
  await add(streams, log, 9_000, 'x'.repeat(100));
  expect(stream.sent).toBeGreaterThanOrEqual(5_000);
  expect(stream.sent).toBeLessThan(5_200);
  await passTo(now + 200);
  expect([stream.endCode, purse.charges]).toEqual(['SPENT', [4]]);
});

it('what a stream owes when its client leaves is charged', async () => {
  const log = new MemoryLog();
  const streams = streamsOf(log);
  const purse = new Purse();
  const { stream, output } = open(streams, purse);
  await passTo(1);
  await add(streams, log, 3_500);
  expect([stream.sent, purse.charges]).toEqual([3_500, []]);
  output.destroy();
  await settle();
  expect([purse.charges, streams.count]).toEqual([[2], 0]);
});

it('what is thrown in one round, by an event or by a subscriber, ends neither the reading nor the looking after', async () => {
  const failures: unknown[] = [];
  const stop = onBackgroundFailure((error) => failures.push(error));
  const log = new MemoryLog();
  const streams = streamsOf(log);
  const subscriber = new Purse();
  const { text } = open(streams, subscriber);
  await add(streams, log, 0);
  await add(streams, log, 1, 'a');
  const [badEvent, badSubscriber] = [new Error('of an event'), new Error('of a subscriber')];
  mock.method(subscriber, 'findEnd', () => Promise.reject(badSubscriber), { times: 1 });
  mock.method(
    log,
    'readAfter',
    () =>
      Promise.resolve({
        isKnown: true,
        last: positionAt(2),
        events: [
          {
            get position() {
              throw badEvent;
            },
          },
        ],
      }),
    { times: 1 },
  );
  await passTo(1 * seconds);
  await passTo(2 * seconds);
  log.add(1, 'b');
  await passTo(3 * seconds);
  await passTo(4 * seconds);
  expect(new Set(failures)).toEqual(new Set([badEvent, badSubscriber]));
  expect(text()).toBe('ab');
  mock.method(subscriber, 'findEnd', () => Promise.resolve({ code: 'REVOKED', body: 'revoked' }));
  await passTo(5 * seconds);
  expect(text()).toBe('abrevoked');
  stop();
});

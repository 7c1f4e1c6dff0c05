import { PassThrough, Writable } from 'node:stream';

import { expect, it } from '@jest/globals';

import { Feed } from '../../../src/platform/feed/feed.ts';
import { FeedStream, type StreamSource } from '../../../src/platform/feed/stream.ts';
import { holdLoop, threadMillis } from '../../support/measurement.ts';
import { until } from '../../support/until.ts';
import { bytesOf, MemoryLog, positionAt, type SampleEvent } from './memory-log.ts';

const framing = {
  contentType: '',
  opening: '',
  keepAlive: '',
  result: (body: string) => `${body},`,
  end: (body: string) => body,
};

/** A feed that has read all of its log and reads no more. */
async function feedOf(log: MemoryLog): Promise<Feed<SampleEvent>> {
  const ignore = (): void => undefined;
  const feed = new Feed({ log, bytesOf, isOutage: () => false, onTick: ignore, onFailure: ignore });
  await until(() => feed.end !== undefined);
  return feed;
}

type Sample = Partial<StreamSource<SampleEvent>>;

const forever = { keepAliveMillis: Infinity, lifeMillis: Infinity };
const terms = { ...forever, millisOfUnit: Infinity, eventsOfUnit: Infinity, bytesOfUnit: Infinity };

const numberIn = ({ position }: SampleEvent): string => position.replace(':7', '');

/** A stream after the tenth event that sends their numbers, with what it holds. */
function streamOf(feed: Feed<SampleEvent>, source: Sample, output: Writable, keepAliveMillis = Infinity) {
  const held: number[] = [];
  const stream = new FeedStream<SampleEvent>(
    {
      subscriber: { findEnd: () => Promise.resolve(undefined), charge: () => Promise.resolve({ spent: 0 }) },
      output,
      after: positionAt(10),
      readAfter: () => Promise.reject(new Error('unexpected')),
      matches: undefined,
      textOf: numberIn,
      framing,
      turn: setImmediate,
      hold: (bytes) => {
        held.push(bytes);
        return true;
      },
      endOf: (error) => {
        throw error;
      },
      onClose: () => undefined,
      ...source,
    },
    feed,
    { bytesOf, terms: { ...terms, keepAliveMillis } },
  );
  stream.begin(() => source.onClose?.(undefined));
  return { stream, held };
}

it.each([
  ['', 100],
  ['x'.repeat(8_000), 4],
])(
  'a stream that is behind reads at most 100 events at a time, keeps 64 KiB of them, and reads on when the client has taken those',
  async (text, kept) => {
    const log = new MemoryLog();
    log.add(5_000);
    const feed = await feedOf(log);
    const own = new MemoryLog();
    own.add(kept * 50, text);
    const output = new PassThrough({ writableHighWaterMark: 1, readableHighWaterMark: 1 });
    const readAfter: Sample['readAfter'] = async (after, limit) => (await own.readAfter(after, limit)).events;
    const { stream, held } = streamOf(feed, { readAfter }, output);
    stream.wake();
    await until(() => own.limits.length > 0);
    // Nothing has been read of it.
    for (let tick = 0; tick < 20; tick += 1) {
      await new Promise(setImmediate);
      stream.wake();
    }
    expect(own.limits.length).toBeLessThanOrEqual(2);
    let received = '';
    output.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    await until(() => {
      stream.wake();
      return received.endsWith(`,${kept * 50},`);
    });
    expect(received).toBe(Array.from({ length: kept * 50 - 10 }, (_, index) => `${index + 11},`).join(''));
    expect(Math.max(...own.limits)).toBe(100);
    // What doesn't fit isn't read again and again.
    const sum = own.limits.reduce((total, limit) => total + limit, 0);
    expect(sum).toBeLessThan(4 * kept * 50 + 200);
    expect(Math.max(...held)).toBeLessThan(256 * 1024);
    expect(held.at(-1)).toBe(0);
    output.destroy();
    feed.stop();
  },
);

it('however fast its client reads, a stream writes one chunk in a turn of its client, for a millisecond or an event', async () => {
  const log = new MemoryLog();
  const feed = await feedOf(log);
  log.add(400);
  await until(() => {
    feed.readNow();
    return feed.end === positionAt(400);
  });
  const busyMillis = 3;
  const turns: (() => void)[] = [];
  const output = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  const textOf = (event: SampleEvent): string => {
    holdLoop(busyMillis);
    return numberIn(event);
  };
  const { stream } = streamOf(feed, { textOf, turn: (goOn) => turns.push(goOn) }, output);
  let longest = 0;
  let count = 0;
  await until(
    async () => {
      stream.wake();
      const turn = turns.shift();
      expect(turns).toEqual([]);
      const before = threadMillis();
      turn?.();
      // What it has written calls back in this tick.
      await new Promise((resolve) => process.nextTick(resolve));
      longest = Math.max(longest, threadMillis() - before);
      count += turn === undefined ? 0 : 1;
      return stream.sent === 390;
    },
    { everyMillis: 0 },
  );
  expect(count).toBe(390);
  expect(longest).toBeLessThan(20 * busyMillis);
  output.destroy();
  feed.stop();
});

it('a stream whose client can hold no more writes and reads nothing, and goes on when that has passed', async () => {
  const log = new MemoryLog();
  log.add(20);
  const feed = await feedOf(log);
  const own = new MemoryLog();
  own.add(20);
  let mayHold = false;
  let refused = 0;
  const output = new PassThrough();
  const { stream } = streamOf(
    feed,
    {
      readAfter: async (after, limit) => (await own.readAfter(after, limit)).events,
      hold: (bytes) => {
        if (!mayHold && bytes > 0) refused += 1;
        return mayHold || bytes === 0;
      },
    },
    output,
  );
  stream.wake();
  await until(() => refused > 0);
  expect([own.limits, output.readableLength]).toEqual([[], 0]);
  mayHold = true;
  await until(() => {
    stream.wake();
    return stream.sent === 10;
  });
  expect(String(output.read())).toBe('11,12,13,14,15,16,17,18,19,20,');
  output.destroy();
  feed.stop();
});

it('a stream whose client has gone before it begins is closed', async () => {
  const feed = await feedOf(new MemoryLog());
  const output = new PassThrough().destroy();
  await new Promise((resolve) => output.once('close', resolve));
  let closed = 0;
  streamOf(feed, { onClose: () => (closed += 1) }, output);
  expect(closed).toBe(1);
  feed.stop();
});

it('a stream that has ended writes nothing more, while its client has not read its last message', async () => {
  const log = new MemoryLog();
  log.add(10);
  const feed = await feedOf(log);
  const output = new PassThrough();
  const failures: unknown[] = [];
  output.on('error', (error) => failures.push(error));
  const { stream } = streamOf(feed, { framing: { ...framing, keepAlive: 'alive' } }, output, 0);
  stream.end({ code: 'STREAM_ENDED', body: 'first' });
  stream.end({ code: 'EVENTS_GONE', body: 'second' });
  stream.checkTimes(() => ({ code: 'EVENTS_GONE', body: 'third' }));
  await new Promise((resolve) => output.resume().once('close', resolve));
  expect([stream.endCode, failures]).toEqual(['STREAM_ENDED', []]);
  feed.stop();
});

import { mock } from 'node:test';

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { parse } from 'graphql';

import { Accounts } from '../../../src/account/accounts.ts';
import { TickTime } from '../../../src/account/tick-time.ts';
import { readConfig } from '../../../src/config.ts';
import { maxEventStreams } from '../../../src/domain/access/plan.ts';
import type { Principal } from '../../../src/domain/access/principal.ts';
import type { EventPosition } from '../../../src/domain/events/event.ts';
import {
  EventStreams,
  type EventStreamsOptions,
  type StreamOpening,
} from '../../../src/graphql/streams/event-streams.ts';
import { framingFor } from '../../../src/graphql/streams/framing.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const position = { position: '0', salt: '0' } as unknown as EventPosition;
const principal = { id: '1', clientId: 'key:1', plan: 'free' } as unknown as Principal;
const left = { remaining: 10, resetsAt: 0 };

let now = 0;
let charges: number[] = [];

beforeEach(() => {
  now = 0;
  charges = [];
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  mock.method(performance, 'now', () => now);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/** The first look at the times of streams at or after this one. */
async function passTo(time: number): Promise<void> {
  now = time;
  mock.timers.tick(200);
  await new Promise((resolve) => setImmediate(resolve));
}

async function openOne(): Promise<{ readonly text: () => string; readonly endCode: () => string | undefined }> {
  const accounts = new Accounts();
  const options = {
    keys: { find: () => Promise.resolve(principal) },
    quota: {
      peek: () => Promise.resolve({ outcome: 'admitted', minute: left, day: left }),
      consume: (_subject: unknown, cost: number) => {
        charges.push(cost);
        return Promise.resolve({ outcome: 'admitted' });
      },
    },
    log: { last: () => Promise.resolve(position), readAfter: () => Promise.resolve({ isKnown: true, events: [] }) },
    accounts,
    ticks: new TickTime(accounts, 1),
    maxStreams: 1,
    onRefusal: () => undefined,
    onChange: () => undefined,
  } as unknown as EventStreamsOptions;
  const stream = await new EventStreams(options).open({
    key: 'secret',
    principal,
    operation: { key: '', document: parse('{ a }'), prepared: { rootFields: () => [] }, variables: {} },
    framing: framingFor('text/event-stream'),
    onEnd: () => undefined,
  } as unknown as StreamOpening);
  let text = '';
  stream.on('data', (chunk: string) => (text += chunk));
  return { text: () => text, endCode: () => stream.endCode };
}

it('a stream is kept alive every 15 s', async () => {
  const { text } = await openOne();
  for (const [time, comments] of [
    [15 * seconds - 1, 1],
    [15 * seconds, 2],
    [30 * seconds - 1, 2],
    [30 * seconds, 3],
  ] as const) {
    await passTo(time);
    expect([time, text()]).toEqual([time, ':\n\n'.repeat(comments)]);
  }
});

it('the opening pays for five minutes, and each further five minutes begun cost 1', async () => {
  await openOne();
  for (const [time, count] of [
    [5 * minutes - 1, 0],
    [5 * minutes, 1],
    [10 * minutes - 1, 1],
    [10 * minutes, 2],
  ] as const) {
    await passTo(time);
    expect([time, charges]).toEqual([time, Array.from({ length: count }, () => 1)]);
  }
});

it.each([
  [0, 54],
  [0.5, 60],
  [1, 66],
])('a stream lasts an hour, a tenth more or less by chance: with %s it is %s minutes', async (chance, lasts) => {
  mock.method(Math, 'random', () => chance);
  const { endCode } = await openOne();
  await passTo(lasts * minutes - 1);
  expect(endCode()).toBeUndefined();
  // 3,600,000 × 1.1 is a little more than that.
  await passTo(lasts * minutes + 1);
  expect(endCode()).toBe('STREAM_ENDED');
});

it('the bounds are those of the contract', () => {
  const { maxStreams, eventsRetentionSeconds } = readConfig({});
  expect([maxStreams, eventsRetentionSeconds]).toEqual([2_000, 7 * 24 * 3_600]);
  expect(maxEventStreams).toEqual({ free: 1, pro: 5, business: 20, enterprise: 20 });
});

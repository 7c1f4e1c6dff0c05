import { setImmediate } from 'node:timers/promises';
import { mock } from 'node:test';

import { afterEach, expect, it } from '@jest/globals';

import type { EventMove, EventMoves } from '../../../src/platform/feed/sequencer.ts';
import { Sequencer, type SequencerOptions } from '../../../src/platform/feed/sequencer.ts';
import { until } from '../../support/until.ts';
import { openEventLog } from './event-log.ts';

const log = await openEventLog();
const running: Sequencer[] = [];

function start(
  moves: EventMoves,
  { onMoved = () => undefined, onFailure = () => undefined }: Partial<SequencerOptions> = {},
): Sequencer {
  const sequencer = new Sequencer({ moves, retentionSeconds: 86_400, onMoved, onFailure });
  running.push(sequencer);
  sequencer.start();
  return sequencer;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
});

it('what is committed is readable soon, and the readers of the process that moves it are notified', async () => {
  await log.sql(`insert into categories (name) values ('earlier')`);
  await log.move();
  const beginning = await log.stores.events.last();
  let notifications = 0;
  const sequencer = start(log.moves, { onMoved: () => (notifications += 1) });
  await log.sql(`insert into categories (name) values ('a')`);
  await until(() => notifications === 1);
  expect(await log.readAfter(beginning)).toHaveLength(1);
  await until(() => sequencer.logBytes > 0);
  expect(sequencer.lagSeconds).toBe(0);
});

it('two processes that move give every change one position, and one goes on when the other stops', async () => {
  await log.move();
  const beginning = await log.stores.events.last();
  const [first, second] = [start(log.moves), start(log.moves)];
  for (let n = 0; n < 20; n += 1) await log.sql('insert into categories (name) values ($1)', [`c${n}`]);
  await until(async () => (await log.readAfter(beginning)).length === 20);
  for (const stopped of [first, second]) {
    await stopped.stop();
    if (stopped === second) start(log.moves);
    const before = await log.stores.events.last();
    await log.sql(`insert into categories (name) values ('d')`);
    await until(async () => (await log.readAfter(before)).length === 1);
  }
  expect(await log.readAfter(beginning)).toHaveLength(22);
});

/** Lets so many milliseconds pass, in which what is done takes no time. */
async function pass(millis: number, begin: () => void): Promise<void> {
  const startedAt = performance.now();
  let passed = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => startedAt + passed);
  try {
    begin();
    for (; passed < millis; passed += 1) {
      mock.timers.tick(1);
      await setImmediate();
    }
  } finally {
    mock.restoreAll();
    mock.timers.reset();
  }
}

const idle: EventMove = { moved: 0, isLeader: true, lagSeconds: 0 };

it.each([
  ['five times in a second where it moved last', idle, 5],
  ['once elsewhere', { ...idle, isLeader: false }, 1],
  ['at once while more changes wait', { ...idle, moved: 4_000 }, 1_000],
])('it moves %s', async (_when, move, expected) => {
  let runs = 0;
  await pass(1_000, () =>
    start({
      move: () => {
        runs += 1;
        return Promise.resolve(move);
      },
      maintain: () => Promise.resolve(0),
    }),
  );
  expect(runs).toBe(expected);
});

it('stopping waits for the run under way', async () => {
  const order: string[] = [];
  let end: (() => void) | undefined;
  const move = (): Promise<EventMove> =>
    new Promise((resolve) => {
      end = () => {
        order.push('the run has ended');
        resolve(idle);
      };
    });
  const sequencer = start({ move, maintain: () => Promise.resolve(0) });
  await until(() => end !== undefined);
  const stopped = sequencer.stop().then(() => order.push('it has stopped'));
  await setImmediate();
  end!();
  await stopped;
  expect(order).toEqual(['the run has ended', 'it has stopped']);
});

it('a failure is reported once until it has passed, and the lag grows meanwhile', async () => {
  let isLost = true;
  let calls = 0;
  const failures: unknown[] = [];
  const moves: EventMoves = {
    move: () => {
      calls += 1;
      return isLost ? Promise.reject(new Error('lost')) : Promise.resolve(idle);
    },
    maintain: () => Promise.resolve(0),
  };
  const sequencer = start(moves, { onFailure: (_what, error) => failures.push(error) });
  await until(() => calls === 4);
  expect(failures).toEqual([new Error('lost')]);
  expect(sequencer.lagSeconds).toBeGreaterThan(2);
  isLost = false;
  await until(() => sequencer.lagSeconds === 0);
});

it('a run that fails is followed by smaller ones until one succeeds', async () => {
  const limits: number[] = [];
  const moves: EventMoves = {
    move: (_id, limit) => {
      limits.push(limit);
      return limit > 1_000 && limits.length < 4 ? Promise.reject(new Error('timeout')) : Promise.resolve(idle);
    },
    maintain: () => Promise.resolve(0),
  };
  await pass(2_600, () => start(moves));
  expect(limits).toEqual([4_000, 2_000, 1_000, 2_000, 4_000]);
});

it('a maintenance that fails is reported once, tried once a minute, and slows no move', async () => {
  const failures: string[] = [];
  let [runs, maintained] = [0, 0];
  const moves: EventMoves = {
    move: () => {
      runs += 1;
      return Promise.resolve(idle);
    },
    maintain: () => {
      maintained += 1;
      return Promise.reject(new Error('a view needs the oldest day'));
    },
  };
  await pass(2_000, () => start(moves, { onFailure: (what) => failures.push(what) }));
  expect([runs, maintained, failures]).toEqual([10, 1, ['maintain']]);
});

it('says at each maintenance how long ago the last one has succeeded', async () => {
  const passed: (number | undefined)[] = [];
  const moves: EventMoves = {
    move: () => Promise.resolve(idle),
    maintain: (_retentionSeconds, passedSeconds) => {
      passed.push(passedSeconds && Math.round(passedSeconds));
      return passed.length === 2 ? Promise.reject(new Error('a lock')) : Promise.resolve(0);
    },
  };
  await pass(182_000, () => start(moves));
  expect(passed).toEqual([undefined, 60, 120, 60]);
});

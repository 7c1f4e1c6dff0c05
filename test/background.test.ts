import { expect, it } from '@jest/globals';

import { attempt, every, inBackground, onBackgroundFailure } from '../src/platform/background.ts';
import { until } from './support/until.ts';

it('a failure of work that is not awaited, or of a round of a timer, goes to the listeners, and ends nothing', async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', onUnhandled);
  const failures: unknown[] = [];
  const remove = onBackgroundFailure((error) => {
    failures.push(error);
  });
  const failure = new Error('unforeseen');
  inBackground(Promise.reject(failure));
  inBackground(Promise.resolve());
  attempt(() => {
    throw failure;
  });
  attempt(() => Promise.reject(failure));
  await until(() => failures.length === 3);
  let rounds = 0;
  const timer = every(1, () => {
    rounds += 1;
    throw failure;
  });
  await until(() => rounds > 2);
  clearInterval(timer);
  remove();
  process.off('unhandledRejection', onUnhandled);
  expect([new Set(failures), unhandled]).toEqual([new Set([failure]), []]);
});

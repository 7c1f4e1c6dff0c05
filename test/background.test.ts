import { expect, it } from '@jest/globals';

import { inBackground, onBackgroundFailure } from '../src/platform/background.ts';
import { until } from './support/until.ts';

it('a failure of work that is not awaited goes to the listeners, and ends nothing', async () => {
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
  await until(() => failures.length > 0);
  remove();
  process.off('unhandledRejection', onUnhandled);
  expect([failures, unhandled]).toEqual([[failure], []]);
});

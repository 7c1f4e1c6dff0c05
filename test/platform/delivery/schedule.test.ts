import { expect, it } from '@jest/globals';

import { outcomeOf } from '../../../src/platform/delivery/schedule.ts';

it.each([
  [200, 'delivered'],
  [299, 'delivered'],
  ...[undefined, 301, 304, 401, 403, 404, 408, 425, 429, 500, 503].map((status) => [status, 'failed'] as const),
  [410, 'gone'],
  ...[400, 402, 409, 413, 422].map((status) => [status, 'refused'] as const),
])('%s is %s', (status, outcome) => {
  expect(outcomeOf(status)).toBe(outcome);
});

import { expect, it } from '@jest/globals';

import { domainFailureOf } from '../../../src/database/domain-failure.ts';
import { failureOf } from '../../../src/platform/postgres/driver-errors.ts';

it.each([
  ['admin_shutdown', '57P01'],
  ['idle_session_timeout', '57P05'],
  ['idle_in_transaction_session_timeout', '25P03'],
  ['transaction_timeout, from PostgreSQL 17 on', '25P04'],
  ['too_many_connections', '53300'],
])('a request that the server ends by %s is UNAVAILABLE', (_name, code) => {
  const error = Object.assign(new Error('terminating connection'), { code });
  expect(domainFailureOf(failureOf(error))).toMatchObject({
    code: 'UNAVAILABLE',
    cause: { reason: 'lost', cause: error },
  });
});

it.each([
  ['lock_not_available', '55P03', /waited too long for a row's lock, or a table's, which/],
  ['query_canceled', '57014', /^This has taken the database too long/],
  ['deadlock_detected', '40P01', /^Changes at the same time have waited for each other/],
  ['serialization_failure', '40001', /^Changes at the same time have waited for each other/],
])('%s is no lost database: it is told as what it is', (_name, code, message) => {
  const error = Object.assign(new Error('of the driver'), { code });
  expect(domainFailureOf(failureOf(error))).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(message),
  });
});

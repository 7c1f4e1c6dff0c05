import { expect, it } from '@jest/globals';

import { translateDriverError } from '../../src/postgres/driver-errors.ts';

it.each([
  ['admin_shutdown', '57P01'],
  ['idle_session_timeout', '57P05'],
  ['idle_in_transaction_session_timeout', '25P03'],
  ['transaction_timeout, from PostgreSQL 17 on', '25P04'],
  ['too_many_connections', '53300'],
  ['lock_not_available', '55P03'],
])('a request that the server ends by %s is UNAVAILABLE', (_name, code) => {
  const error = Object.assign(new Error('terminating connection'), { code });
  expect(translateDriverError(error)).toMatchObject({ code: 'UNAVAILABLE', cause: error });
});

import { expect, it } from '@jest/globals';

import { DomainError } from '../../src/domain/errors.ts';
import { HttpError, describeFailure } from '../../src/http/error-table.ts';
import { logFailure } from '../../src/http/failure-response.ts';

it.each([
  ['a fault', new TypeError('fault'), ['error', 'error']],
  ['what was waited for in vain', new DomainError('UNAVAILABLE', 'busy'), ['warn', 'nothing']],
  ["a client's mistake", new HttpError('BAD_REQUEST', 'wrong'), ['nothing', 'nothing']],
])('%s is logged, unless it is news for a client that has gone', (_what, failure, expected) => {
  const levels = [false, true].map((destroyed) => {
    let logged = 'nothing';
    const at = (level: string) => () => (logged = level);
    const request = { log: { info: at('info'), warn: at('warn'), error: at('error') }, raw: { socket: { destroyed } } };
    logFailure(failure, describeFailure(failure), request as unknown as Parameters<typeof logFailure>[2]);
    return logged;
  });
  expect(levels).toEqual(expected);
});

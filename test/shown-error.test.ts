import { expect, it } from '@jest/globals';

import { explainFailure } from '../src/settings/failed-start.ts';
import { plainText, shownError } from '../src/platform/shown-error.ts';

it('of an error only chosen members are shown, and of its causes', () => {
  const secret = 'redis://user:s3cret@host';
  const cause = Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: secret });
  const error = Object.assign(new AggregateError([cause], 'All have failed', { cause }), {
    config: { password: secret },
    options: { url: secret },
    headers: { authorization: secret },
  });
  expect(JSON.stringify(shownError(error))).not.toContain('s3cret');
  const shownCause = { type: 'TypeError', code: 'ERR_INVALID_URL', message: 'Invalid URL' };
  expect(shownError(error)).toMatchObject({
    type: 'AggregateError',
    message: 'All have failed',
    stack: expect.stringContaining('shown-error.test'),
    cause: shownCause,
    errors: [shownCause],
  });
});

it('what is shown is bounded, however long a message is, and however long a chain of causes', () => {
  const circular = new Error('x'.repeat(10_000_000));
  circular.cause = circular;
  expect(JSON.stringify(shownError(circular)).length).toBeLessThan(100_000);
  expect(shownError('thrown')).toEqual({ type: 'string', message: 'thrown' });
});

it('what a server has said reaches a terminal without escapes, in 8,000 characters, and without our stack', () => {
  const said = `\u001b]0;title\u0007\u001b[31mno\u001b[0m \u009b2J\u202eentry\r\n\tsecond\u0000 line`;
  expect(plainText(said)).toBe('no entry\n\tsecond line');
  const error = Object.assign(new Error(said + 'x'.repeat(10_000_000)), { severity: 'FATAL', code: 'XX000' });
  const explained = explainFailure(error);
  expect(explained).toMatch(/^no entry\n\tsecond linexxx/);
  expect(explained.length).toBeLessThan(10_000);
  expect(explained).not.toContain('shown-error.test');
  expect(explainFailure(new Error('Connection terminated: a message cannot be read'))).not.toContain(
    'shown-error.test',
  );
});

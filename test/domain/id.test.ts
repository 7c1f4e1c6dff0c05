import { describe, expect, it } from '@jest/globals';

import { parseId } from '../../src/domain/id.ts';

describe('an id', () => {
  it.each(['0', '7', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    'is any int64 in canonical decimal: %s',
    (text) => {
      expect(parseId(text)).toBe(text);
    },
  );

  it.each([
    '',
    '007',
    '+1',
    'abc',
    '1.0',
    '1e3',
    '-0',
    ' 1',
    '1 ',
    '٣',
    '9223372036854775808',
    '-9223372036854775809',
    '1'.repeat(400),
  ])('is nothing else, so that %j names nothing', (text) => {
    expect(parseId(text)).toBeUndefined();
  });
});

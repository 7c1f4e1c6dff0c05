import { describe, expect, it } from '@jest/globals';

import { InputCheck, type Rule } from '../../src/domain/input.ts';
import {
  descriptionRule,
  nameRule,
  orderQuantityRule,
  searchTextRule,
  stockQuantityRule,
} from '../../src/domain/rules.ts';

function apply<Raw, Kept>(rule: Rule<Raw, Kept>, value: Raw): { kept: Kept; problems: string[] } {
  const problems: string[] = [];
  return { kept: rule(value, (problem) => problems.push(problem)), problems };
}

describe('a name', () => {
  it.each([
    ['Rex', 'Rex'],
    ['  Rex \t\n', 'Rex'],
    ['\u00a0Rex\u2003', 'Rex'],
    ['🐕'.repeat(255), '🐕'.repeat(255)],
    ['x', 'x'],
  ])('has 1 to 255 code points once the white space at both ends is gone (%#)', (value, kept) => {
    expect(apply(nameRule, value)).toEqual({ kept, problems: [] });
  });

  it.each(['', '   ', 'x'.repeat(256), '🐕'.repeat(256), 'a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a\ud800b'])(
    'is refused otherwise (%#)',
    (value) => {
      expect(apply(nameRule, value).problems).toHaveLength(1);
    },
  );
});

describe('a description', () => {
  it.each(['', 'Line one\r\n\tline two', 'x'.repeat(2000), '🐕'.repeat(2000), '  kept as it is  '])(
    'has at most 2,000 code points and may have lines (%#)',
    (value) => {
      expect(apply(descriptionRule, value)).toEqual({ kept: value, problems: [] });
    },
  );

  it.each(['x'.repeat(2001), 'a\u0000b', 'a\u000bb', 'a\u009fb', 'a\udc00b'])('is refused otherwise (%#)', (value) => {
    expect(apply(descriptionRule, value).problems).toHaveLength(1);
  });
});

describe('a quantity', () => {
  it('is an int32, from 0 in stock and from 1 in an order', () => {
    expect(apply(stockQuantityRule, 0).problems).toEqual([]);
    expect(apply(orderQuantityRule, 1).problems).toEqual([]);
    expect(apply(stockQuantityRule, 2 ** 31 - 1).problems).toEqual([]);
  });

  it.each([-1, 2 ** 31, 1.5, Number.NaN])(
    'is refused otherwise, and the message says what would be right: %d',
    (value) => {
      expect(apply(stockQuantityRule, value).problems).toEqual([
        `must be a whole number from 0 to 2147483647, not ${value}.`,
      ]);
    },
  );

  it('of an order is not 0', () => {
    expect(apply(orderQuantityRule, 0).problems).toHaveLength(1);
  });
});

describe('a text to look for', () => {
  it('is whatever PostgreSQL can take', () => {
    expect(apply(searchTextRule, '%_\\ \n')).toEqual({ kept: '%_\\ \n', problems: [] });
    expect(apply(searchTextRule, '🐕'.repeat(255)).problems).toEqual([]);
    expect(apply(searchTextRule, '🐕'.repeat(256)).problems).toEqual(['must have at most 255 characters, not 256.']);
    expect(apply(searchTextRule, 'a\u0000').problems).toHaveLength(1);
    expect(apply(searchTextRule, '\ud83d').problems).toHaveLength(1);
  });
});

describe('an input with several faults', () => {
  it('is refused once, naming every failing field', () => {
    const check = new InputCheck();
    check.required('name', '', nameRule);
    check.optional('quantity', -1, stockQuantityRule);
    check.change('status', null, nameRule);
    expect(() => check.throwIfRefused()).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_FAILED',
        message: expect.stringMatching(/^name: .*\. quantity: .*\. status: .*\.$/),
        violations: [
          expect.objectContaining({ field: 'name' }),
          expect.objectContaining({ field: 'quantity' }),
          expect.objectContaining({ field: 'status' }),
        ],
      }),
    );
  });
});

describe('an update', () => {
  it('that changes nothing is refused, naming what could be changed', () => {
    const check = new InputCheck();
    check.requireAtLeastOneChange({ name: undefined, status: undefined });
    expect(() => check.throwIfRefused()).toThrow(/name, status/);
  });
});

import { describe, expect, it } from '@jest/globals';

import { columnTypeOf, loggedNumber } from '../../../src/database/sql/value-types.ts';

describe('a value in a row of the log', () => {
  it.each([
    ['numeric(12,2)', '12.50', '12.50'],
    ['numeric(12,2)', '-9999999999.99', '-9999999999.99'],
    ['numeric(30,0)', '9007199254740993', '9007199254740993'],
    ['numeric', `0.${'7'.repeat(2_000)}`, `0.${'7'.repeat(2_000)}`],
    ['bigint', '9007199254740993', '9007199254740993'],
    ['int', '-2147483648', -2_147_483_648],
  ])('of a column of type %s is exact: %s', (type, written, value) => {
    expect(columnTypeOf(type).logged(loggedNumber(written))).toBe(value);
  });

  it.each([
    ['int', '2147483648'],
    ['int', '1.5'],
    ['bigint', '9223372036854775808'],
    ['bigint', '1.0'],
    ['text', '1'],
    ['boolean', '1'],
    ['timestamptz(3)', '2026'],
  ])('that a column of type %s cannot have is none: %s', (type, written) => {
    expect(columnTypeOf(type).logged(loggedNumber(written))).toBeUndefined();
  });
});

it('a column of a type that has no row in the table is named', () => {
  expect(() => columnTypeOf('money')).toThrow('Columns of type money need a row in database/sql/value-types.ts.');
});

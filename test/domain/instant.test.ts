import { describe, expect, it } from '@jest/globals';

import { parseInstant } from '../../src/domain/instant.ts';

describe('an instant', () => {
  it.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00+01:00', '2026-11-21T08:30:00.000Z'],
    ['2026-11-21T09:30:00.5-05:30', '2026-11-21T15:00:00.500Z'],
    ['2026-11-21T09:30:00.123456789Z', '2026-11-21T09:30:00.123Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['0000-12-31T23:00:00-01:00', '0001-01-01T00:00:00.000Z'],
  ])('is read to the millisecond and kept in UTC: %s', (text, expected) => {
    const parsed = parseInstant(text);
    expect(parsed).toBeInstanceOf(Date);
    expect((parsed as Date).toISOString()).toBe(expected);
  });

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T09:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-11-21T09:30:00+24:00',
    '2026-11-21T09:30:00+01:60',
  ])('is refused when it is impossible: %s', (text) => {
    expect(parseInstant(text)).toMatch(/does not exist/);
  });

  it.each(['2026-02-30', '9999-12-31'])('is quoted in part when it is long: %s', (day) => {
    expect(parseInstant(`${day}T23:00:00.${'0'.repeat(1_000)}-02:00`).toString().length).toBeLessThan(200);
  });

  it.each([
    '2026-11-21',
    '2026-11-21T09:30:00',
    '2026-11-21 09:30:00Z',
    '21.11.2026',
    '1795253400',
    '',
    '2026-11-21T09:30Z',
  ])('is refused when it is no RFC 3339 date-time with an offset: %j', (text) => {
    expect(parseInstant(text)).toMatch(/RFC 3339/);
  });

  it.each(['0001-01-01T00:30:00+01:00', '9999-12-31T23:30:00-01:00', '0000-06-01T00:00:00Z'])(
    'is refused when it leaves the years 0001 to 9999 in UTC: %s',
    (text) => {
      expect(parseInstant(text)).toMatch(/0001 to 9999/);
    },
  );
});

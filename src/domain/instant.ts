import { quoted } from './errors.ts';

const rfc3339 =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})[Tt](?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:\.(?<fraction>\d+))?(?:[Zz]|(?<sign>[+-])(?<offsetHour>\d{2}):(?<offsetMinute>\d{2}))$/;

/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: the years that RFC 3339 can write and PostgreSQL keep. */
export const earliestInstant = -62_135_596_800_000;
export const latestInstant = 253_402_300_799_999;

/**
 * Parses an RFC 3339 date-time with an offset; returns an error message for the client when it isn't one.
 *
 * Truncated to the millisecond. Impossible dates (2026-02-30, 24:00, a leap second) are refused: a different instant
 * would be stored.
 */
export function parseInstant(text: string): Date | string {
  const groups = rfc3339.exec(text)?.groups;
  if (groups === undefined) {
    return `${quoted(text)} is not an RFC 3339 date-time with an offset, such as 2026-11-21T09:30:00Z.`;
  }
  const number = (name: string): number => Number(groups[name] ?? 0);
  const milliseconds = Number((groups['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  const local = new Date(0);
  local.setUTCFullYear(number('year'), number('month') - 1, number('day'));
  local.setUTCHours(number('hour'), number('minute'), number('second'), milliseconds);
  // Date carries overflow: the 30th of February becomes the 2nd of March.
  const isPossible =
    local.getUTCFullYear() === number('year') &&
    local.getUTCMonth() === number('month') - 1 &&
    local.getUTCDate() === number('day') &&
    number('hour') < 24 &&
    number('minute') < 60 &&
    number('second') < 60 &&
    number('offsetHour') < 24 &&
    number('offsetMinute') < 60;
  if (!isPossible) return `${quoted(text)} does not exist: use a possible date and time, such as 2026-11-21T09:30:00Z.`;

  const offsetMinutes = (groups['sign'] === '-' ? -1 : 1) * (number('offsetHour') * 60 + number('offsetMinute'));
  const instant = local.getTime() - offsetMinutes * 60_000;
  if (instant < earliestInstant || instant > latestInstant)
    return `${quoted(text)} lies outside the years 0001 to 9999 in UTC.`;
  return new Date(instant);
}

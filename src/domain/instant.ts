import { quoted } from './errors.ts';

const rfc3339 =
  /^(?<date>\d{4}-\d{2}-\d{2})[Tt](?<time>\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d+))?(?:[Zz]|(?<sign>[+-])(?<offsetHours>\d{2}):(?<offsetMinutes>\d{2}))$/;

/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: the years that RFC 3339 can write and PostgreSQL keep. */
export const earliestInstant = -62_135_596_800_000;
export const latestInstant = 253_402_300_799_999;

/** Returns a message for the client for what isn't one. Truncates to the millisecond; refuses impossible dates. */
export function parseInstant(text: string): Date | string {
  const groups = rfc3339.exec(text)?.groups;
  if (groups === undefined) {
    return `${quoted(text)} is not an RFC 3339 date-time with an offset, such as 2026-11-21T09:30:00Z.`;
  }
  const { date, time, fraction = '', sign, offsetHours = '0', offsetMinutes = '0' } = groups;
  const written = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const local = new Date(written);
  const isPossible =
    !Number.isNaN(local.getTime()) &&
    // `Date` carries overflow: the 30th of February becomes the 2nd of March.
    local.toISOString() === written &&
    Number(offsetHours) < 24 &&
    Number(offsetMinutes) < 60;
  if (!isPossible) return `${quoted(text)} does not exist: use a possible date and time, such as 2026-11-21T09:30:00Z.`;

  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  const instant = local.getTime() - offset * 60_000;
  if (instant < earliestInstant || instant > latestInstant)
    return `${quoted(text)} lies outside the years 0001 to 9999 in UTC.`;
  return new Date(instant);
}

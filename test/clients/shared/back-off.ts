// guide:begin back-off
/**
 * How long to wait before the next attempt: as long as the service says, and a random part more, of up to a second,
 * doubled with each attempt, up to a minute, so that many clients don't come back at the same moment.
 */
export function waitMillis(attempt: number, retryAfterSeconds = 0): number {
  return (retryAfterSeconds + Math.random() * Math.min(60, 2 ** (attempt - 1))) * 1000;
}
// guide:end

const secondMillis = 1_000;
const minuteMillis = 60 * secondMillis;
const hourMillis = 60 * minuteMillis;

/** Waits of an endpoint that fails, after its first failure, its second, and so on; then hourly. */
const failureWaits = [5 * secondMillis, 30 * secondMillis, 2 * minuteMillis, 10 * minuteMillis, 30 * minuteMillis];

/** Waits of an event that is refused: five attempts within an hour. */
const refusalWaits = [30 * secondMillis, 3 * minuteMillis, 10 * minuteMillis, 35 * minuteMillis];

/** An event that was refused so often isn't sent again. */
export const maxRefusals = refusalWaits.length + 1;

/**
 * An endpoint that has failed for so long is sent nothing more. It has failed as often by then, however long the waits
 * were, unless the clock was set forth meanwhile.
 */
const disabledAfter = { millis: 5 * 24 * hourMillis, failures: 100 };

/** Of endpoints that have failed together, not all are tried again together. */
const jitter = 0.2;

export type Outcome = 'delivered' | 'refused' | 'failed' | 'gone';

/** Statuses of 4xx that say something about the endpoint and nothing about the event. */
const endpointStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 425, 429]);

/** Without a response there is no status. */
export function outcomeOf(status: number | undefined): Outcome {
  if (status === undefined) return 'failed';
  if (status >= 200 && status < 300) return 'delivered';
  if (status === 410) return 'gone';
  return status >= 400 && status < 500 && !endpointStatuses.has(status) ? 'refused' : 'failed';
}

/** How long an endpoint that has failed so often (1 or more) isn't tried; the receiver may ask for up to an hour. */
export function failureWait(failures: number, retryAfterMillis = 0): number {
  const wait = failureWaits[failures - 1] ?? hourMillis;
  return Math.max(spread(wait), Math.min(retryAfterMillis, hourMillis));
}

/** How long an event that was refused so often (1 or more, less than `maxRefusals`) isn't tried. */
export function refusalWait(refusals: number): number {
  return spread(refusalWaits[refusals - 1] ?? 0);
}

/** By the shared clock, in milliseconds since 1970. */
export interface Wait {
  readonly from: number;
  readonly until: number;
}

/** A clock that was set back to before the wait began ends it, too: nothing waits longer than it was to. */
export function isOver({ from, until }: Wait, now: number): boolean {
  return now >= until || now < from;
}

export function hasFailedForDays(since: number, failures: number, now: number): boolean {
  return now - since >= disabledAfter.millis && failures >= disabledAfter.failures;
}

function spread(millis: number): number {
  return millis * (1 - jitter + 2 * jitter * Math.random());
}

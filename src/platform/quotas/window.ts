/** How many requests a subject has per minute and per day. */
export interface QuotaLimits {
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
}

/**
 * A fixed window: it opens with the first request that spends after the last one closed.
 *
 * Instants are milliseconds since 1970; zero means never.
 */
export interface QuotaWindow {
  openedAt: number;
  spent: number;
  /** When a request was first refused because too little of this window was left. */
  firstRefusedAt: number;
}

/** The count of a window since it was opened. */
export type SpentWindow = Pick<QuotaWindow, 'openedAt' | 'spent'>;

/** A window as clients see it. */
export interface WindowFigures {
  readonly name: 'minute' | 'day';
  readonly limit: number;
  readonly lengthSeconds: number;
  readonly remaining: number;
  /**
   * The end of the window in milliseconds since 1970; for one that isn't open yet, the end it would have if it opened
   * now.
   */
  readonly resetsAt: number;
}

export const minuteMillis = 60_000;
export const dayMillis = 86_400_000;

export function newWindow(): QuotaWindow {
  return { openedAt: 0, spent: 0, firstRefusedAt: 0 };
}

export function isOpen({ openedAt }: QuotaWindow, lengthMillis: number, now: number): boolean {
  return openedAt !== 0 && now - openedAt < lengthMillis;
}

/**
 * Closes a window that has ended.
 *
 * A window that begins in the future, because the clock was set back, reopens now with its usage: it ends within its
 * length and admits nothing twice.
 */
export function bringUpToDate(window: QuotaWindow, lengthMillis: number, now: number): void {
  if (window.openedAt === 0) return;
  if (!isOpen(window, lengthMillis, now)) Object.assign(window, newWindow());
  window.openedAt = Math.min(window.openedAt, now);
  window.firstRefusedAt = Math.min(window.firstRefusedAt, now);
}

export function spend(window: QuotaWindow, cost: number, now: number): void {
  if (cost === 0) return;
  if (window.openedAt === 0) window.openedAt = now;
  window.spent += cost;
}

export function figuresOf(
  name: WindowFigures['name'],
  { openedAt, spent }: SpentWindow,
  limit: number,
  now: number,
): WindowFigures {
  const lengthMillis = name === 'minute' ? minuteMillis : dayMillis;
  return {
    name,
    limit,
    lengthSeconds: lengthMillis / 1000,
    remaining: Math.max(0, limit - spent),
    resetsAt: (openedAt === 0 ? now : openedAt) + lengthMillis,
  };
}

/**
 * The window for responses that show one: the one with the fewest requests left; in a tie, the one that resets later.
 */
export function tightest(minute: WindowFigures, day: WindowFigures): WindowFigures {
  if (minute.remaining !== day.remaining) return minute.remaining < day.remaining ? minute : day;
  return minute.resetsAt > day.resetsAt ? minute : day;
}

/** Whole seconds until the instant has passed; at least one. */
export function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}

import type { SpentWindow } from './window.ts';

/**
 * The usage of a subject and the time of its last use. Instants are milliseconds since 1970; 0 for a window that isn't
 * open.
 */
export interface SubjectUsage {
  readonly subjectId: string;
  readonly lastUsedAt: number;
  readonly minute: SpentWindow;
  readonly day: SpentWindow;
}

/** The daily usage of a subject. */
export interface DayCounter extends SpentWindow {
  readonly subjectId: string;
}

/** Stores usage for other processes and restarts. Both methods throw when the database can't be reached. */
export interface UsageTable {
  /** Those opened after that instant, in milliseconds since 1970; older ones are deleted. */
  loadDays(openedAfter: number): Promise<DayCounter[]>;
  /** One statement. Keeps the larger figure of a window, since several processes may save it. */
  save(usages: readonly SubjectUsage[]): Promise<void>;
}

import type { SpentWindow } from './window.ts';

/**
 * The usage of a key and the time of its last use. Instants are milliseconds since 1970; 0 for a window that isn't
 * open.
 */
export interface KeyUsage {
  /** The id of the key, or `admin` for ADMIN_API_KEY. */
  readonly subjectId: string;
  readonly lastUsedAt: number;
  readonly minute: SpentWindow;
  readonly day: SpentWindow;
}

/** The daily usage of a key. */
export interface DayCounter extends SpentWindow {
  readonly subjectId: string;
}

/**
 * Stores the usage of keys for other processes and restarts. Both methods throw UNAVAILABLE when the database can't be
 * reached.
 */
export interface UsageTable {
  /** Those opened after that instant, in milliseconds since 1970; older ones are deleted. */
  loadDays(openedAfter: number): Promise<DayCounter[]>;
  /** One statement. Keeps the larger figure of a window, since several processes may save it. */
  save(usages: readonly KeyUsage[]): Promise<void>;
}

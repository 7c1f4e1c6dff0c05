import type { QuotaWindow } from './window.ts';

type SpentWindow = Pick<QuotaWindow, 'openedAt' | 'spent'>;

/** What a key has spent, and when it was used last. Instants are milliseconds since 1970; a window that isn't open has 0. */
export interface KeyUsage {
  /** That of the key, or `admin` for ADMIN_API_KEY. */
  readonly subjectId: string;
  readonly lastUsedAt: number;
  readonly minute: SpentWindow;
  readonly day: SpentWindow;
}

/** What a key has spent of its day. */
export interface DayCounter extends SpentWindow {
  readonly subjectId: string;
}

/** Where the use of keys outlives the process, and is seen by others. Both throw UNAVAILABLE when the database can't be reached. */
export interface UsageTable {
  /** Those opened after that instant, in milliseconds since 1970; older ones are deleted. */
  loadDays(openedAfter: number): Promise<DayCounter[]>;
  /** One statement. Of the same window the larger figure is kept, since several processes may save it. */
  save(usages: readonly KeyUsage[]): Promise<void>;
}

/** What a key has spent of its day. */
export interface DayCounter {
  readonly subjectId: string;
  /** In milliseconds since 1970. */
  readonly openedAt: number;
  readonly spent: number;
}

/** Where the day counters of a single process outlive it. Both throw UNAVAILABLE when the database can't be reached. */
export interface DayCounterTable {
  /** Those opened after that instant, in milliseconds since 1970; older ones are deleted. */
  load(openedAfter: number): Promise<DayCounter[]>;
  /** One statement. */
  save(counters: readonly DayCounter[]): Promise<void>;
}

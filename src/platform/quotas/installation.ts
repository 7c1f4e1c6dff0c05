/** The services on one database. Counters that several installations keep in one place are named after them. */
export interface Installation {
  /** Differs from that of every other database. */
  readonly id: string;
  /**
   * Until then the previous version, which names counters without an id, may run beside this one; in milliseconds since
   * 1970.
   */
  readonly previousNamesUntil: number;
}

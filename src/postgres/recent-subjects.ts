interface Use {
  readonly subject: string;
  at: number;
}

const recentMillis = 1_000;

/** The subjects (keys) that have used the database within the last second: the last two show whether one is alone. */
export class RecentSubjects {
  #last: Use = { subject: '', at: -Infinity };
  #other: Use = { subject: '', at: -Infinity };

  /** The service's own work has no subject and isn't recorded. */
  record(subject: string | undefined, now = performance.now()): void {
    if (subject === undefined) return;
    if (this.#last.subject === subject) {
      this.#last.at = now;
      return;
    }
    this.#other = this.#last;
    this.#last = { subject, at: now };
  }

  /** Whether any other subject has used the database within the last second. */
  hasOthers(subject: string, now = performance.now()): boolean {
    const { at } = this.#last.subject === subject ? this.#other : this.#last;
    return now - at < recentMillis;
  }
}

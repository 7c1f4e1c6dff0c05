import type { PendingRead } from './pending-read.ts';

interface WaitingRead {
  readonly pending: PendingRead;
  readonly since: number;
}

/**
 * Reads whose clients have as many under way as they may. Clients are served one after another, so that none waits for
 * all the reads of another.
 */
export class WaitingReads {
  /** By client; the one served last is the last. */
  readonly #bySubject = new Map<string, WaitingRead[]>();

  add(pending: PendingRead, now = performance.now()): void {
    const reads = this.#bySubject.get(pending.subject);
    if (reads === undefined) this.#bySubject.set(pending.subject, [{ pending, since: now }]);
    else reads.push({ pending, since: now });
  }

  /** Removes the next read of a client that may begin one. */
  next(mayBegin: (subject: string) => boolean): PendingRead | undefined {
    for (const [subject, reads] of this.#bySubject) {
      if (!mayBegin(subject)) continue;
      this.#bySubject.delete(subject);
      const next = reads.shift();
      if (reads.length > 0) this.#bySubject.set(subject, reads);
      return next?.pending;
    }
    return undefined;
  }

  /** Removes those that have waited since before the time. */
  takeBefore(time: number): PendingRead[] {
    const taken: PendingRead[] = [];
    for (const [subject, reads] of this.#bySubject) {
      const kept = reads.findIndex(({ since }) => since >= time);
      const late = reads.splice(0, kept === -1 ? reads.length : kept);
      taken.push(...late.map(({ pending }) => pending));
      if (reads.length === 0) this.#bySubject.delete(subject);
    }
    return taken;
  }
}

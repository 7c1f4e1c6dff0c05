import type { DeliveryState, DisabledReason } from './endpoint.ts';
import { failureWait, hasFailedForDays, isOver, type Wait } from './schedule.ts';

/** The failures of an endpoint since its last success, and when it is tried again. */
export class Failures {
  #count: number;
  /** Milliseconds since 1970, by the shared clock. */
  #since: number;
  /** Undefined when an event was refused since. */
  #wait: Wait | undefined;
  /** Monotonic time. */
  #lastAt = -Infinity;
  #disabledReason: DisabledReason | undefined;

  constructor({ failures, failingSince, failedAt, nextAttemptAt }: DeliveryState) {
    this.#count = failures;
    this.#since = failingSince?.getTime() ?? 0;
    if (failedAt && nextAttemptAt) this.#wait = { from: failedAt.getTime(), until: nextAttemptAt.getTime() };
  }

  get state(): 'active' | 'failing' | 'disabled' {
    if (this.#disabledReason !== undefined) return 'disabled';
    return this.#count === 0 ? 'active' : 'failing';
  }

  get disabledReason(): DisabledReason | undefined {
    return this.#disabledReason;
  }

  /** Whether it is tried by one request at most. */
  get hasWait(): boolean {
    return this.#wait !== undefined;
  }

  isOver(now: number): boolean {
    return this.#wait === undefined || isOver(this.#wait, now);
  }

  /** A request that began then has failed; several that were under way together fail as one. */
  add(startedAt: number, now: number, retryAfterMillis: number | undefined, isGone: boolean): void {
    const isFirst = startedAt > this.#lastAt;
    if (isFirst) {
      // A clock that was set back leaves an instant in the future.
      this.#since = this.#count === 0 ? now : Math.min(this.#since, now);
      this.#count += 1;
      this.#lastAt = performance.now();
    }
    const until = now + failureWait(this.#count, retryAfterMillis);
    if (isFirst) this.#wait = { from: now, until };
    // A later one may ask for a longer pause.
    else if (retryAfterMillis !== undefined && this.#wait !== undefined)
      this.#wait = { from: this.#wait.from, until: Math.max(this.#wait.until, until) };
    if (isGone) this.#disabledReason = 'GONE';
    else if (hasFailedForDays(this.#since, this.#count, now)) this.#disabledReason = 'FAILED_FOR_DAYS';
    if (this.#disabledReason !== undefined) this.#wait = undefined;
  }

  /** A request that began then was a success. */
  end(startedAt: number): void {
    if (startedAt <= this.#lastAt) return;
    this.#count = 0;
    this.#wait = undefined;
  }

  /** An event was refused: the endpoint responds. */
  endWait(): void {
    this.#wait = undefined;
  }

  stored(): Pick<DeliveryState, 'failures' | 'failingSince' | 'failedAt' | 'nextAttemptAt'> {
    return {
      failures: this.#count,
      failingSince: this.#count === 0 ? null : new Date(this.#since),
      failedAt: this.#wait ? new Date(this.#wait.from) : null,
      nextAttemptAt: this.#wait ? new Date(this.#wait.until) : null,
    };
  }
}

import { inBackground } from '../background.ts';

/** Ends early when the signal is aborted. */
export type Attempt<Result> = (signal: AbortSignal) => Promise<Result>;

interface RaceOptions<Result> {
  /** The next attempt begins when the one before has failed, or hasn't ended for this long. */
  readonly delayMillis: number;
  /** An attempt that has failed is repeated at this interval while others have not ended; undefined for never. */
  readonly retryMillis?: number | undefined;
  readonly signal: AbortSignal;
  /** Receives the result of an attempt that comes after another's. */
  readonly discard: (result: Result) => void;
}

/** Every attempt has failed. The errors are in the order of the attempts. */
export class AllFailed extends AggregateError {
  override readonly name = 'AllFailed';
}

/** The failure of the first attempt, also of one that was a race itself. */
export function firstFailure(error: unknown): unknown {
  return error instanceof AllFailed && error.errors.length > 0 ? firstFailure(error.errors[0]) : error;
}

/**
 * Begins one attempt after the other, and resolves with the first result, as RFC 8305 ("Happy Eyeballs") does; the
 * others are aborted. Rejects with AllFailed when each has failed once.
 */
export function firstToSucceed<Result>(
  attempts: readonly Attempt<Result>[],
  { delayMillis, retryMillis, signal, discard }: RaceOptions<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timers = new Set<NodeJS.Timeout>();
    const errors: unknown[] = [];
    const failed = new Set<number>();
    let begun = 0;
    let isOver = false;
    const abort = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    const end = (): void => {
      isOver = true;
      signal.removeEventListener('abort', abort);
      for (const timer of timers) clearTimeout(timer);
      controller.abort();
    };
    const later = (millis: number, work: () => void): void => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        work();
      }, millis);
      timers.add(timer);
    };
    const run = async (index: number, attempt: Attempt<Result>): Promise<void> => {
      try {
        const result = await attempt(controller.signal);
        if (isOver) return discard(result);
        end();
        resolve(result);
      } catch (error) {
        if (isOver) return;
        errors[index] = error;
        failed.add(index);
        if (failed.size === attempts.length) {
          end();
          reject(new AllFailed(errors));
          return;
        }
        beginNext(index + 1);
        if (retryMillis !== undefined && !controller.signal.aborted)
          later(retryMillis, () => inBackground(run(index, attempt)));
      }
    };
    /** Begins this attempt, unless it has begun. */
    const beginNext = (index: number): void => {
      const attempt = attempts[index];
      if (isOver || index !== begun || attempt === undefined) return;
      begun += 1;
      inBackground(run(index, attempt));
      later(delayMillis, () => beginNext(index + 1));
    };
    if (attempts.length === 0) reject(new AllFailed([]));
    else if (signal.aborted) reject(new AllFailed([signal.reason]));
    else beginNext(0);
  });
}

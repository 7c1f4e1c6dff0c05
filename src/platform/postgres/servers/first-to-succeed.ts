import { setTimeout as sleep } from 'node:timers/promises';

/** Ends early when the signal is aborted. */
type Attempt<Result> = (signal: AbortSignal) => Promise<Result>;

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
export async function firstToSucceed<Result>(
  attempts: readonly Attempt<Result>[],
  { delayMillis, retryMillis, signal, discard }: RaceOptions<Result>,
): Promise<Result> {
  const over = new AbortController();
  const ending = AbortSignal.any([signal, over.signal]);
  const never = new Promise<never>(() => undefined);
  const wait = (millis: number): Promise<void> => sleep(millis, undefined, { signal: ending });
  const begin = async (attempt: Attempt<Result>): Promise<Result> => {
    ending.throwIfAborted();
    const result = await attempt(ending);
    if (over.signal.aborted) discard(result);
    over.abort();
    return result;
  };
  /** Never rejects but when all is over. */
  const repeat = async (first: Promise<Result>, attempt: Attempt<Result>): Promise<Result> => {
    for (let last = first; ; last = begin(attempt)) {
      try {
        return await last;
      } catch {
        await (retryMillis === undefined ? never : wait(retryMillis));
      }
    }
  };
  // Resolves when the next attempt may begin.
  let mayBegin: Promise<unknown> = Promise.resolve();
  const firsts = attempts.map((attempt) => {
    const first = mayBegin.then(() => begin(attempt));
    mayBegin = Promise.race([first, mayBegin.then(() => wait(delayMillis))]).catch(() => undefined);
    return first;
  });
  const results = firsts.map((first, index) => repeat(first, attempts[index] as Attempt<Result>).catch(() => never));
  const allFailed = Promise.any(firsts).then(
    () => never,
    (error: unknown) => {
      throw new AllFailed((error as AggregateError).errors);
    },
  );
  try {
    return await Promise.race([...results, allFailed]);
  } finally {
    over.abort();
  }
}

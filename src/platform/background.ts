const listeners = new Set<(error: unknown) => void>();

/**
 * Lets work go on that isn't awaited. Its failure is unforeseen, because what can be foreseen is handled where it
 * happens: it is reported to the listeners, and doesn't end the process.
 */
export function inBackground(work: Promise<unknown>): void {
  work.catch(report);
}

/**
 * Does the work now, in the handler of a timer or of a socket. What it throws is reported in the same way, after `end`
 * has ended what the work is for, and doesn't end the process.
 */
export function attempt(work: () => unknown, end?: () => void): void {
  try {
    const result = work();
    if (result instanceof Promise) inBackground(result);
  } catch (error) {
    end?.();
    report(error);
  }
}

/** Attempts the work again and again, until the timer is cleared. It doesn't keep the process from ending. */
export function every(millis: number, work: () => unknown): NodeJS.Timeout {
  return setInterval(() => attempt(work), millis).unref();
}

/** Its result; undefined when it takes longer than that, and goes on. */
export function within<Result>(millis: number, work: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, millis, undefined);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Work that never runs twice at a time: whoever asks for it meanwhile shares the run. */
export class SharedWork<Result> {
  readonly #work: () => Promise<Result>;
  #underWay: Promise<Result> | undefined;

  constructor(work: () => Promise<Result>) {
    this.#work = work;
  }

  run(): Promise<Result> {
    this.#underWay ??= this.#work().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** A run that sees what has happened before the call, as one that is under way may not. */
  async runAnew(): Promise<Result> {
    await this.#underWay?.catch(() => undefined);
    return this.run();
  }
}

function report(error: unknown): void {
  if (listeners.size === 0) process.emitWarning(error instanceof Error ? error : String(error));
  for (const listener of listeners) listener(error);
}

/** Calls the listener for each failure of work in the background. Returns its removal. */
export function onBackgroundFailure(listener: (error: unknown) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

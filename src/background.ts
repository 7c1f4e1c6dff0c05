import { AsyncResource } from 'node:async_hooks';

const listeners = new Set<(error: unknown) => void>();

/**
 * Lets work go on that isn't awaited. Its failure is unforeseen, because what can be foreseen is handled where it
 * happens: it is reported to the listeners, and doesn't end the process.
 */
export function inBackground(work: Promise<unknown>): void {
  work.catch((error: unknown) => {
    if (listeners.size === 0) process.emitWarning(error instanceof Error ? error : String(error));
    for (const listener of listeners) listener(error);
  });
}

/** Calls the listener for each failure of work in the background. Returns its removal. */
export function onBackgroundFailure(listener: (error: unknown) => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Calls a function, and returns what it returns. */
export type Runner = <Result>(run: () => Result) => Result;

/**
 * Calls functions later in the asynchronous context of now (`AsyncLocalStorage`). `AsyncResource.bind` and
 * `AsyncLocalStorage.snapshot` do the same in 2.5 µs instead of 0.1.
 */
export function contextOfNow(): Runner {
  const context = new AsyncResource('petstore');
  return (run) => context.runInAsyncScope(run);
}

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

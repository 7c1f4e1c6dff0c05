import type { Pieces } from './pieces.ts';
import { isPromise, type Path, type Run } from './run.ts';

/** JSON text, or text that isn't known yet. */
export type Text = string | PendingText;

/** Writes a resolved value that is no promise; throws when it doesn't fit the type. */
export type Complete = (value: unknown, path: Path, run: Run) => Text;

/** Gets the text, or the reason why there is none: one of them, once. */
interface TextListener {
  settle(text: string): void;
  fail(error: unknown): void;
}

/** Texts that are known, or have failed, whose listeners haven't been called. */
const ended: PendingText[] = [];
let isCalling = false;

/**
 * Text that will be known later.
 *
 * It is a promise with one listener, which is called at once: a page of nested lists has several for each of its
 * objects, and promises would take a microtask and three times the memory for each. A loop calls the listeners one
 * after another: the stack doesn't grow with the depth of a response.
 */
export class PendingText implements TextListener {
  #listener: TextListener | undefined;
  #call: ((listener: TextListener) => void) | undefined;

  /** Call it once. */
  listen(listener: TextListener): void {
    this.#listener = listener;
    this.#callListeners();
  }

  settle(text: string): void {
    this.#call = (listener) => listener.settle(text);
    this.#callListeners();
  }

  fail(error: unknown): void {
    this.#call = (listener) => listener.fail(error);
    this.#callListeners();
  }

  /** Settles or fails with what `make` returns or throws. */
  become(make: () => Text): void {
    let text: Text;
    try {
      text = make();
    } catch (error) {
      return this.fail(error);
    }
    return typeof text === 'string' ? this.settle(text) : text.listen(this);
  }

  #callListeners(): void {
    if (this.#listener === undefined || this.#call === undefined) return;
    ended.push(this);
    if (isCalling) return;
    isCalling = true;
    try {
      for (let next = ended.shift(); next !== undefined; next = ended.shift())
        next.#call?.(next.#listener as TextListener);
    } finally {
      // Or a bug in one response would keep all later ones pending.
      isCalling = false;
    }
  }
}

/** The text of a value that is promised. A rejection, or what `write` throws, is the failure. */
export function textOf<Value>(promise: PromiseLike<Value>, write: (value: Value) => Text): PendingText {
  const pending = new PendingText();
  // A thenable may call back at once, or throw.
  Promise.resolve(promise).then(
    (value) => pending.become(() => write(value)),
    (error: unknown) => pending.fail(error),
  );
  return pending;
}

/** The text of a value, or of the promise of one; in the place of a failure, what `recover` returns or throws. */
export function completed(
  value: unknown,
  complete: (value: unknown) => Text,
  recover: (error: unknown) => string,
): Text {
  let text: Text;
  try {
    text = isPromise(value) ? textOf(value, complete) : complete(value);
  } catch (error) {
    return recover(error);
  }
  if (typeof text === 'string') return text;
  const result = new PendingText();
  text.listen({
    settle: (known) => result.settle(known),
    fail: (error) => result.become(() => recover(error)),
  });
  return result;
}

/** Resolves to the text. */
export function promiseOf(text: Text): Promise<string> {
  if (typeof text === 'string') return Promise.resolve(text);
  return new Promise((settle, fail) => text.listen({ settle, fail }));
}

/** An object or a list while it is written: the parts that are done, and those that are pending. */
export interface Container {
  readonly run: Run;
  readonly path: Path | undefined;
  /** Written, or pending. */
  readonly parts: Text[];
  /** The length that was counted in advance and isn't in the parts. */
  readonly restLength: number;
}

/**
 * Waits for all parts, and joins them. When some fail, the first failure is the result, but not before the others have
 * ended: nothing runs after the response, or during the next mutation.
 */
export function joinAll(
  { run, path, parts, restLength }: Container,
  failure?: { readonly error: unknown },
): PendingText {
  const joined = new PendingText();
  let firstFailure = failure;
  let waiting = 1;
  const end = (): void => {
    waiting -= 1;
    if (waiting > 0) return undefined;
    if (firstFailure === undefined) return joined.settle(concatenate(parts as readonly string[], run.pieces));
    const written = parts.filter((part) => typeof part === 'string');
    run.discard(path, written, restLength);
    return joined.fail(firstFailure.error);
  };
  if (firstFailure !== undefined) run.discard(path);
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] as Text;
    if (typeof part === 'string') continue;
    waiting += 1;
    part.listen({
      settle: (text) => {
        parts[index] = text;
        end();
      },
      fail: (error) => {
        firstFailure ??= { error };
        run.discard(path);
        end();
      },
    });
  }
  end();
  return joined;
}

/** A short text stays in its parts until the response is sent: `join` would copy them on each level. */
function concatenate(parts: readonly string[], pieces: Pieces): string {
  let kept = '';
  let text = '';
  for (const part of parts) {
    text += part;
    if (!pieces.isLong(text)) continue;
    kept += pieces.keep(text);
    text = '';
  }
  return kept + text;
}

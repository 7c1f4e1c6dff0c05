import type { Path, Run } from './run.ts';

/** JSON text, or text that isn't known yet. */
export type Text = string | PendingText;

/** Writes a resolved value that is no promise; throws when it doesn't fit the type. */
export type Complete = (value: unknown, path: Path, run: Run) => Text;

/** Gets the text, or the reason why there is none: one of them, once. */
interface TextListener {
  settle(text: string): void;
  fail(error: unknown): void;
}

/** Settled, with listeners that don't know it yet. */
const untold: PendingText[] = [];
let isTelling = false;

/**
 * Text that will be known later.
 *
 * It is a promise with one listener, which is called at once: a page of nested lists has several for each of its
 * objects, and promises would take a place in the microtask queue and three times the memory for each. A loop tells the
 * listeners one after another: the stack doesn't grow with the depth of a response.
 */
export class PendingText implements TextListener {
  #listener: TextListener | undefined;
  #text: string | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Call it once. */
  listen(listener: TextListener): void {
    this.#listener = listener;
    this.#tell();
  }

  settle(text: string): void {
    this.#text = text;
    this.#tell();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#tell();
  }

  #tell(): void {
    if (this.#listener === undefined || (this.#text === undefined && this.#failure === undefined)) return;
    untold.push(this);
    if (isTelling) return;
    isTelling = true;
    try {
      for (let next = untold.shift(); next !== undefined; next = untold.shift()) next.#tellListener();
    } finally {
      // Or a bug in one response would keep all later ones pending.
      isTelling = false;
    }
  }

  #tellListener(): void {
    if (this.#text !== undefined) this.#listener?.settle(this.#text);
    else this.#listener?.fail(this.#failure?.error);
  }
}

/**
 * The text of a value that is promised. What `write` and `recover` throw is the failure; without `recover`, a rejection
 * is.
 */
export function textOf<Value>(
  promise: PromiseLike<Value>,
  write: (value: Value) => Text,
  recover: (error: unknown) => Text = rethrow,
): PendingText {
  const pending = new PendingText();
  const become = (make: () => Text): void => {
    let text: Text;
    try {
      text = make();
    } catch (error) {
      return pending.fail(error);
    }
    if (typeof text === 'string') pending.settle(text);
    else text.listen(pending);
  };
  // A thenable may call back at once, or throw.
  Promise.resolve(promise).then(
    (value) => become(() => write(value)),
    (error: unknown) => become(() => recover(error)),
  );
  return pending;
}

function rethrow(error: unknown): never {
  throw error;
}

/** The text, or in the place of a failure what `recover` returns or throws. */
export function recovered(text: Text, recover: (error: unknown) => string): Text {
  if (typeof text === 'string') return text;
  const result = new RecoveredText(recover);
  text.listen(result);
  return result;
}

class RecoveredText extends PendingText {
  readonly #recover: (error: unknown) => string;

  constructor(recover: (error: unknown) => string) {
    super();
    this.#recover = recover;
  }

  override fail(error: unknown): void {
    let text: string;
    try {
      text = this.#recover(error);
    } catch (failure) {
      return super.fail(failure);
    }
    this.settle(text);
  }
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
export function joinAll(container: Container, failure?: { readonly error: unknown }): PendingText {
  const joined = new JoinedText(container, failure);
  joined.begin();
  return joined;
}

class JoinedText extends PendingText {
  readonly #container: Container;
  #firstFailure: { readonly error: unknown } | undefined;
  #waiting = 1;

  constructor(container: Container, failure: { readonly error: unknown } | undefined) {
    super();
    this.#container = container;
    this.#firstFailure = failure;
  }

  begin(): void {
    const { run, path, parts } = this.#container;
    if (this.#firstFailure !== undefined) run.discard(path, 0);
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index] as Text;
      if (typeof part === 'string') continue;
      this.#waiting += 1;
      part.listen(new PartListener(this, index));
    }
    this.end();
  }

  replace(index: number, text: string): void {
    this.#container.parts[index] = text;
    this.end();
  }

  refuse(error: unknown): void {
    const { run, path } = this.#container;
    this.#firstFailure ??= { error };
    run.discard(path, 0);
    this.end();
  }

  end(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    const { run, path, parts, restLength } = this.#container;
    if (this.#firstFailure === undefined) return this.settle(concatenate(parts as readonly string[]));
    const length = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
    run.discard(path, length + restLength);
    this.fail(this.#firstFailure.error);
  }
}

class PartListener implements TextListener {
  readonly #joined: JoinedText;
  readonly #index: number;

  constructor(joined: JoinedText, index: number) {
    this.#joined = joined;
    this.#index = index;
  }

  settle(text: string): void {
    this.#joined.replace(this.#index, text);
  }

  fail(error: unknown): void {
    this.#joined.refuse(error);
  }
}

/** The parts stay as they are until the whole response is sent: `join` would copy them on each level. */
function concatenate(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += part;
  return text;
}

import { type FieldNode, type GraphQLError, locatedError } from 'graphql';

import type { Arguments, ArgumentsOf } from './arguments.ts';
import { Pieces } from './pieces.ts';

/** A path in the response, innermost key first; undefined is `data` itself. */
export interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
}

/** Further errors are only counted. */
export const maxErrors = 100;

/** A list checks the clock after so many items, or so much text. */
const stepsBetweenChecks = 64;
const lengthBetweenChecks = 16 * 1024;

/** When lists yield to other requests, and how. */
export interface Slices {
  /** Whether the current tick of the event loop has time left. */
  hasTime(now: number): boolean;
  /** Resolves when the list may go on. */
  pause(): Promise<void>;
}

/** What an execution needs of the context of its resolvers. */
export interface RunContext {
  /** Without it lists are written to their end. */
  readonly slices?: Slices | undefined;
}

/**
 * The state of one execution: the arguments of its resolvers, its errors, and the length written.
 *
 * Length is counted in UTF-16 code units, of which a response never has more than bytes.
 */
export class Run<Context extends RunContext | undefined = RunContext | undefined> {
  readonly context: Context;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly errors: GraphQLError[] = [];
  readonly pieces = new Pieces();
  /** The number of errors beyond the maximum. */
  omittedErrors = 0;
  /** Set when the response would be too large: from then on nothing is resolved or written. */
  isTooLarge = false;
  /** The length written and not discarded. */
  length = 0;
  readonly #maxLength: number;
  /** Paths that an error has set to null. Further errors at or below them are dropped. */
  #failed: Set<Path | undefined> | undefined;
  /** Objects and lists that will not be in the response: errors below them are dropped too. */
  #discarded: Set<Path | undefined> | undefined;
  #arguments: Map<ArgumentsOf, Arguments> | undefined;
  #steps = 0;
  #checkedAtLength = 0;
  /** How lists that have yielded go on, in order; those before `#resumed` have. */
  #paused: (() => void)[] = [];
  #resumed = 0;

  constructor(context: Context, variables: Readonly<Record<string, unknown>>, maxLength: number) {
    this.context = context;
    this.variables = variables;
    this.#maxLength = maxLength;
  }

  /**
   * The arguments of a field: one object for all its parents, which resolvers must not change. What a client sends once
   * is coerced once, however many parents there are.
   */
  argumentsOf(compute: ArgumentsOf): Arguments {
    let args = this.#arguments?.get(compute);
    if (args === undefined) (this.#arguments ??= new Map()).set(compute, (args = compute(this.variables)));
    return args;
  }

  get hasAllErrors(): boolean {
    return this.errors.length >= maxErrors;
  }

  /** Adds to the length of the response. */
  write(length: number): void {
    this.length += length;
    if (this.length > this.#maxLength) this.isTooLarge = true;
  }

  /**
   * Subtracts the length of an object or a list that a failure below it has made null, or its parent: of the texts that
   * are written, and of what was counted in advance.
   */
  discard(path: Path | undefined, texts: readonly string[] = [], restLength = 0): void {
    this.length -= restLength;
    for (const text of texts) {
      this.length -= this.pieces.lengthOf(text);
      this.pieces.drop(text);
    }
    (this.#discarded ??= new Set()).add(path);
  }

  /** Records an error at the path that it makes null. */
  report(path: Path | undefined, locate: () => GraphQLError): void {
    if (this.#isGone(path)) return;
    (this.#failed ??= new Set()).add(path);
    if (this.hasAllErrors) this.omittedErrors += 1;
    else this.errors.push(locate());
  }

  /** True when a list should yield to other requests; one that begins also does where another one waits. */
  isDue(isBeginning: boolean): boolean {
    if (isBeginning && this.#resumed < this.#paused.length) return true;
    this.#steps += 1;
    if (this.#steps < stepsBetweenChecks && this.length - this.#checkedAtLength < lengthBetweenChecks) return false;
    this.#steps = 0;
    this.#checkedAtLength = this.length;
    const slices = this.context?.slices;
    return slices !== undefined && !slices.hasTime(performance.now());
  }

  /**
   * Yields to other requests. The lists of an execution go on one after another, and wait as one for the next tick: a
   * response can have a hundred thousand.
   */
  pause(goOn: () => void): void {
    this.#paused.push(goOn);
    if (this.#paused.length === 1) this.#waitForTick();
  }

  #waitForTick(): void {
    const resume = (): void => this.#resume();
    // A wait that failed is over, too.
    this.context?.slices?.pause().then(resume, resume);
  }

  #resume(): void {
    do {
      const goOn = this.#paused[this.#resumed] as () => void;
      this.#resumed += 1;
      goOn();
    } while (this.#resumed < this.#paused.length && this.context?.slices?.hasTime(performance.now()) === true);
    if (this.#resumed < this.#paused.length) return this.#waitForTick();
    this.#paused = [];
    this.#resumed = 0;
  }

  #isGone(path: Path | undefined): boolean {
    if (this.#failed?.has(path) === true) return true;
    for (let place = path; place !== undefined; place = place.prev) {
      if (this.#failed?.has(place.prev) === true || this.#discarded?.has(place.prev) === true) return true;
    }
    return false;
  }
}

/** The keys and indices of a path, outermost first. */
function keysOf(path: Path | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let place = path; place !== undefined; place = place.prev) keys.push(place.key);
  return keys.toReversed();
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

export function writeNull(run: Run): string {
  run.length += 4;
  return 'null';
}

/** Handles a failure at a nullable or a non-null position. */
export function handleFailure(
  failure: unknown,
  isNullable: boolean,
  nodes: readonly FieldNode[],
  path: Path,
  run: Run,
): string {
  const locate = (): GraphQLError => locatedError(failure, nodes, keysOf(path));
  // Beyond the maximum, errors are only counted and need no path.
  if (!isNullable) throw run.hasAllErrors ? failure : locate();
  run.report(path, locate);
  return writeNull(run);
}

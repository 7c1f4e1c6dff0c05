import { type FieldNode, type GraphQLError, locatedError } from 'graphql';

import type { PreparedField } from './selection.ts';

/** A text that is longer becomes bytes. From twice its size on V8 gives a text memory of its own. */
const maxTextLength = 32 * 1024;

/** Between two looks at the time, unless the caller says otherwise. */
const stepsBetweenTurns = 4_096;

/** Work that takes longer than to write a value counts as so many steps. */
export const steps = { resolved: 64, computed: 32, failed: 32, chunk: 512 } as const;

/** An estimate of what a value takes that is kept for its object, beside its text. */
const bytesOfMade = 128;

/** More bytes than a response, or the payload of a mutation, may have. */
export class ResultTooLarge extends Error {}

/** JSON text: the chunks that have become bytes, and the text after them. */
export interface JsonText {
  readonly chunks: readonly Buffer[];
  readonly text: string;
}

export function bytesOf({ chunks, text }: JsonText): number {
  return chunks.reduce((sum, { length }) => sum + length, Buffer.byteLength(text));
}

/**
 * Where the text of a response goes while it is written: what is written last is handed from writer to writer as a
 * string, and becomes a chunk here when it is long. A writer that goes back to its earlier text truncates the chunks.
 */
export class Sink {
  readonly maxBytes: number;
  chunkCount = 0;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The text that is left, which is none when it was long. Throws ResultTooLarge. */
  flushed(text: string): string {
    if (text.length <= maxTextLength) return text;
    const chunk = Buffer.from(text);
    this.chunkCount = this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.maxBytes) throw new ResultTooLarge();
    return '';
  }

  /** Discards the chunks after the first ones. */
  truncate(count: number): void {
    if (count === this.chunkCount) return;
    for (const { length } of this.#chunks.splice(count)) this.#bytes -= length;
    this.chunkCount = count;
  }

  /** Throws ResultTooLarge unless there is room for the text, of which a code unit has at most three bytes. */
  assertRoom(text: string): void {
    const room = this.maxBytes - this.#bytes;
    if (text.length * 3 > room && Buffer.byteLength(text) > room) throw new ResultTooLarge();
  }

  /** Everything that is written, with the text after the last chunk. */
  end(text: string): JsonText {
    return { chunks: this.#chunks, text };
  }
}

/** Coerced or not: each use says. */
export type Variables = Readonly<Record<string, unknown>>;

/** Further errors are only counted. */
export const maxErrors = 100;

export interface Execution {
  /** The JSON text of `data`; undefined when it would be too large. */
  readonly data: JsonText | undefined;
  readonly errors: readonly GraphQLError[];
  /** How many errors there were beyond these. */
  readonly omittedErrors: number;
}

/** How an execution yields to others. */
export interface Turns {
  /**
   * Called now and then with the bytes that the execution holds. Resolves when it may go on; undefined while it may.
   * When it rejects, the execution ends, and holds nothing any more.
   */
  turn(bytes: number): Promise<void> | undefined;
  /** How much is done between two calls: a value that is written is a step. */
  readonly steps?: number;
}

export interface RunOptions {
  /** Passed to resolvers. */
  readonly context: unknown;
  /** Coerced. */
  readonly variables: Variables;
  readonly maxBytes: number;
  /** Without it, the execution never yields to others. */
  readonly turns?: Turns | undefined;
}

/** Where an object or a list goes on whose writing was suspended: at the value with this index. */
export interface Frame {
  readonly index: number;
  /** The text and the number of chunks before that value. */
  readonly last: string;
  readonly chunkCount: number;
  /** Of an object: the value. Of a list: its items. Neither is read twice. */
  readonly value: unknown;
}

/** Thrown while a result is written, when others are next: each object and list around the place adds its frame. */
export class Suspension extends Error {
  readonly turn: Promise<void>;
  /** The text that is written last. */
  readonly text: string;
  /** The innermost one first. */
  readonly frames: Frame[] = [];

  constructor(turn: Promise<void>, text: string) {
    super();
    this.turn = turn;
    this.text = text;
  }

  within(frame: Frame): this {
    this.frames.push(frame);
    return this;
  }
}

/** A failure at a place that can't be null. It becomes an error, which costs more, only where one is recorded. */
class LocatedFailure extends Error {
  readonly toError: () => GraphQLError;

  constructor(failure: unknown, nodes: readonly FieldNode[] | undefined, path: (string | number)[] | undefined) {
    super();
    this.toError = () => locatedError(failure, nodes, path);
  }
}

/** The state of one execution: the arguments of its resolvers, where it writes, and its errors. */
export class Run {
  readonly context: unknown;
  readonly variables: Variables;
  readonly sink: Sink;
  readonly errors: GraphQLError[] = [];
  omittedErrors = 0;
  /** The path of what is being written: the first `depth` of these keys. */
  readonly keys: (string | number)[] = [];
  depth = 0;
  /** Of the objects and lists whose writing goes on, the outermost one last. */
  frames: Frame[] = [];
  readonly #turns: Turns | undefined;
  readonly #maxSteps: number;
  /** Until the next look at the time. */
  #steps: number;
  readonly #arguments = new Map<PreparedField, Record<string, unknown> | Error>();
  #made: Map<object, Map<unknown, unknown>> | undefined;
  #bytesOfMade = 0;

  constructor({ context, variables, maxBytes, turns }: RunOptions) {
    this.context = context;
    this.variables = variables;
    this.sink = new Sink(maxBytes);
    this.#turns = turns;
    this.#maxSteps = turns === undefined ? Infinity : (turns.steps ?? stepsBetweenTurns);
    this.#steps = this.#maxSteps;
  }

  /** So much was done. Returns what has to be awaited before it goes on; undefined while it may. */
  pause(count: number): Promise<void> | undefined {
    this.#steps -= count;
    if (this.#steps > 0) return undefined;
    this.#steps = this.#maxSteps;
    return this.#turns?.turn(this.sink.bytes + this.#bytesOfMade);
  }

  /** So much was done where it can't yield. */
  count(count: number): void {
    this.#steps -= count;
  }

  /** Before a place is written: the text that is left, which is none when it was long. Throws ResultTooLarge. */
  flushed(text: string): string {
    const left = this.sink.flushed(text);
    if (left.length < text.length) this.count(steps.chunk);
    return left;
  }

  /** Before a value is written, after the text: throws a Suspension when others are next. */
  step(text: string): void {
    const turn = this.pause(1);
    if (turn !== undefined) throw new Suspension(turn, text);
  }

  /**
   * The value that is made of an object, or of a leaf's value: once for each `key`, however often it is selected. It is
   * kept as long as the execution; so is a failure.
   */
  once(key: object, of: unknown, make: () => unknown): unknown {
    this.#made ??= new Map();
    let values = this.#made.get(key);
    if (values === undefined) this.#made.set(key, (values = new Map<unknown, unknown>()));
    let value = values.get(of);
    if (value === undefined) {
      try {
        value = make() ?? null;
      } catch (failure) {
        value = errorOf(failure);
      }
      values.set(of, value);
      this.count(steps.computed);
      this.#bytesOfMade += bytesOfMade + (typeof value === 'string' ? value.length : 0);
    }
    if (value instanceof Error) throw value;
    return value;
  }

  /**
   * The arguments of a field: one object for all its parents, which resolvers must not change. What a client sends once
   * is coerced once, or refused, however many parents there are.
   */
  argumentsOf(field: PreparedField): Record<string, unknown> {
    let args = this.#arguments.get(field);
    if (args === undefined) {
      try {
        args = field.argumentsFor(this.variables);
      } catch (failure) {
        args = errorOf(failure);
      }
      this.#arguments.set(field, args);
    }
    if (args instanceof Error) throw args;
    return args;
  }

  /**
   * Records a failure at the place that it makes null; where null isn't allowed, throws it for the place above. Beyond
   * the maximum it is only counted; that of a root field, which says what was carried out, takes another one's place.
   */
  fail(failure: unknown, isNullable: boolean, nodes: readonly FieldNode[] | undefined, depth: number): void {
    if (failure instanceof ResultTooLarge) throw failure;
    this.count(steps.failed);
    // The frames below the place.
    this.frames.length = 0;
    if (!isNullable && failure instanceof LocatedFailure) throw failure;
    const place = depth === 0 ? undefined : this.keys.slice(0, depth);
    if (!isNullable) throw new LocatedFailure(failure, nodes, place);
    if (this.errors.length >= maxErrors) {
      this.omittedErrors += 1;
      const replaced = depth > 1 ? -1 : this.errors.findLastIndex(({ path = [] }) => path.length > 1);
      if (replaced === -1) return;
      this.errors.splice(replaced, 1);
    }
    this.errors.push(failure instanceof LocatedFailure ? failure.toError() : locatedError(failure, nodes, place));
  }

  /** The execution without data: it is null, or would be too large. */
  failed(failure: unknown): Execution {
    if (failure instanceof ResultTooLarge) return this.end(undefined);
    this.sink.truncate(0);
    this.fail(failure, true, undefined, 0);
    return this.end('null');
  }

  /** The execution; without text, the response would be too large. */
  end(text: string | undefined): Execution {
    const { sink, errors, omittedErrors } = this;
    return { data: text === undefined ? undefined : sink.end(text), errors, omittedErrors };
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

export function errorOf(failure: unknown): Error {
  return failure instanceof Error ? failure : locatedError(failure, undefined);
}

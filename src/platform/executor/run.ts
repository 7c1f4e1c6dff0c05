import { type FieldNode, type GraphQLError, locatedError } from 'graphql';

import type { PreparedField } from './selection.ts';

/** A text that is longer becomes bytes. From twice its size on V8 gives a text memory of its own. */
const maxTextLength = 32 * 1024;

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
  /** The number of chunks. */
  chunkCount = 0;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
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

export interface RunOptions {
  /** Passed to resolvers. */
  readonly context: unknown;
  /** Coerced. */
  readonly variables: Variables;
  readonly maxBytes: number;
  /** `turn` resolves when the execution may go on; undefined while it may. Without it, it never yields to others. */
  readonly turns?: { turn(): Promise<void> | undefined } | undefined;
  /**
   * Asked after each root mutation. The fields after one for which it is false are neither carried out nor in the data.
   */
  readonly mayGoOn?: (key: string) => boolean;
}

/** The state of one execution: the arguments of its resolvers, where it writes, and its errors. */
export class Run {
  readonly context: unknown;
  readonly variables: Variables;
  readonly turns: RunOptions['turns'];
  readonly sink: Sink;
  readonly errors: GraphQLError[] = [];
  /** The number of errors beyond the maximum. */
  omittedErrors = 0;
  /** The path of what is being written: the first `depth` of these keys. */
  readonly keys: (string | number)[] = [];
  depth = 0;
  readonly #arguments = new Map<PreparedField, Record<string, unknown> | Error>();

  constructor({ context, variables, maxBytes, turns }: RunOptions) {
    this.context = context;
    this.variables = variables;
    this.sink = new Sink(maxBytes);
    this.turns = turns;
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
    const isFull = isNullable && this.errors.length >= maxErrors;
    if (isFull) {
      this.omittedErrors += 1;
      const replaced = depth > 1 ? -1 : this.errors.findLastIndex(({ path = [] }) => path.length > 1);
      if (replaced === -1) return;
      this.errors.splice(replaced, 1);
    }
    const error = locatedError(failure, nodes, depth === 0 ? undefined : this.keys.slice(0, depth));
    if (!isNullable) throw error;
    this.errors.push(error);
  }

  /** What has been executed, without data: it is null, or would be too large. */
  failed(failure: unknown): Execution {
    if (failure instanceof ResultTooLarge) return this.end(undefined);
    this.sink.truncate(0);
    this.fail(failure, true, undefined, 0);
    return this.end('null');
  }

  /** What has been executed; without text, the response would be too large. */
  end(text: string | undefined): Execution {
    const { sink, errors, omittedErrors } = this;
    return { data: text === undefined ? undefined : sink.end(text), errors, omittedErrors };
  }
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** What was thrown, as an error. */
export function errorOf(failure: unknown): Error {
  return failure instanceof Error ? failure : locatedError(failure, undefined);
}

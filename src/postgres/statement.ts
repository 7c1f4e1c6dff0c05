import { createHash } from 'node:crypto';

import { type Parameter, type Scalar, toText } from './messages.ts';
import type { PreparedQuery, Query, QueryKind } from './session.ts';

/** Adds a value to the parameters of a statement; returns its placeholder. */
export type Bind = (value: Parameter, type: string) => string;

/** The values of one statement, while its text is put together. */
export class Statement {
  readonly #values: Parameter[] = [];

  readonly bind: Bind = (value, type) => `$${this.#values.push(value)}::${type}`;

  /** Planned for its values. */
  planned<Row>(text: string, decode: Query<Row>['decode']): Query<Row> {
    return { name: undefined, text, values: this.#values, kind: 'slow', decode };
  }
}

/** A statement whose text is always the same: it is named once. */
export class FixedStatement<Row> {
  readonly #query: Omit<PreparedQuery<Row>, 'values'>;

  /**
   * `many` does the same for a list of each parameter, and returns one row for each of their elements, in their order.
   */
  constructor(text: string, decode: Query<Row>['decode'], kind: QueryKind = 'short', many?: FixedStatement<Row>) {
    this.#query = { name: nameOf(text), text, decode, kind, many: many && ((lists) => many.with(lists)) };
  }

  with(values: readonly Parameter[], kind = this.#query.kind): PreparedQuery<Row> {
    const { name, text, decode, many } = this.#query;
    return { name, text, values, kind, decode, many };
  }
}

/** One query that does what these do, which are of one statement with a form for many. */
export function together<Row>([first, ...others]: readonly PreparedQuery<Row>[]): PreparedQuery<Row> {
  if (first === undefined) throw new Error('There are no queries.');
  const { many } = first;
  if (others.length === 0 || many === undefined) return first;
  const all = [first, ...others];
  return many(first.values.map((_, index) => all.map(({ values }) => elementOf(values[index] ?? null))));
}

/** A list is its text: `unnest` would flatten lists of lists. */
function elementOf(value: Parameter): Scalar {
  return typeof value === 'object' ? toText(value) : value;
}

/**
 * The text of a statement that is built once for its shape, and run with other values each time.
 *
 * While the text is put together, a value is named by its index in a list that is the same for all statements of the
 * shape; only those that the text uses become parameters.
 */
export class StatementText {
  readonly #used: number[] = [];

  bind(index: number, type: string): string {
    const at = this.#used.indexOf(index);
    return `$${at === -1 ? this.#used.push(index) : at + 1}::${type}`;
  }

  /** The parameters, of the list's values. */
  parametersOf(values: readonly (Parameter | undefined)[]): Parameter[] {
    return this.#used.map((index) => values[index] as Parameter);
  }
}

/** The same for the same text, whichever process names it. */
export function nameOf(text: string): string {
  return `petstore_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

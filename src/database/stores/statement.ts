import { createHash } from 'node:crypto';

import type { Parameter } from '../prepared-statement.ts';
import type { Query } from './session.ts';

/** Gives a value a place among the parameters of a statement. */
export type Bind = (value: Parameter, type: string) => string;

/** The values of one statement, while its text is put together. */
export class Statement {
  readonly #values: Parameter[] = [];

  readonly bind: Bind = (value, type) => `$${this.#values.push(value)}::${type}`;

  /** Prepared, and short enough to share a connection. */
  prepared<Row>(text: string, decode: Query<Row>['decode']): Query<Row> {
    return { name: nameOf(text), text, values: this.#values, isExclusive: false, decode };
  }

  /** Planned for its values, on a connection of its own. */
  planned<Row>(text: string, decode: Query<Row>['decode']): Query<Row> {
    return { name: undefined, text, values: this.#values, isExclusive: true, decode };
  }
}

/** A statement whose text is always the same: it is named once. */
export class FixedStatement<Row> {
  readonly #query: Omit<Query<Row>, 'values'>;

  constructor(text: string, decode: Query<Row>['decode'], isExclusive = false) {
    this.#query = { name: nameOf(text), text, decode, isExclusive };
  }

  with(values: readonly Parameter[]): Query<Row> {
    return { ...this.#query, values };
  }
}

/** There are as many as forms of statements: no value is part of a text. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `petstore_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}

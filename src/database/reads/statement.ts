import { createHash } from 'node:crypto';

/** Runs a statement and answers its rows: a prepared one by its name, which always means the same text, or one planned for its values. */
export type StatementRunner = <Row>(
  name: string | undefined,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>;

/** Runs a prepared statement and answers its rows. */
export type PreparedRunner = <Row>(name: string, text: string, values: readonly unknown[]) => Promise<Row[]>;

/** Gives a value a place among the parameters of a statement. */
export type Bind = (value: unknown, type: string) => string;

/** The values of one statement, while its text is put together. */
export class Statement {
  readonly #values: unknown[] = [];
  readonly #isPrepared: boolean;

  /** Without being prepared it is planned for its values each time. */
  constructor(isPrepared = true) {
    this.#isPrepared = isPrepared;
  }

  readonly bind: Bind = (value, type) => `$${this.#values.push(value)}::${type}`;

  run<Row>(run: StatementRunner, text: string): Promise<Row[]> {
    return run(this.#isPrepared ? nameOf(text) : undefined, text, this.#values);
  }
}

/** A statement whose text is always the same: it is named once. */
export class FixedStatement<Row> {
  readonly #name: string;
  readonly #text: string;

  constructor(text: string) {
    this.#name = nameOf(text);
    this.#text = text;
  }

  run(run: StatementRunner, values: readonly unknown[]): Promise<Row[]> {
    return run(this.#name, this.#text, values);
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

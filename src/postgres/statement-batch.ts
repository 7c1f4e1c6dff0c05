import { bindAndExecuteMessage, parseMessage, syncMessage } from './execution-message.ts';
import type { PreparedQuery } from './session.ts';

/** The part of `pg`'s connection that a submitted query object works with. */
interface BatchConnection {
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly stream: { readonly writable: boolean; write(bytes: string, encoding: 'latin1'): void };
}

/**
 * Prepared statements that are sent in one write and executed one after another, with one Sync at the end.
 *
 * The first one that fails is the last one that is executed ("Pipelining" in PostgreSQL's manual). `query(batch)` of a
 * client that doesn't pipeline submits it; `callback` is called when PostgreSQL has responded or the connection is
 * lost.
 */
export class StatementBatch {
  /** Called with the rows of each statement, or with the error of the one that failed. */
  callback: ((error: Error | null, rows?: unknown[][]) => void) | undefined;
  readonly #statements: readonly PreparedQuery<unknown>[];
  readonly #rows: unknown[][];
  /** The index of the statement whose rows come next. */
  #current = 0;
  #connection: BatchConnection | undefined;
  /** The texts that are prepared here, by their names. */
  readonly #parsed = new Map<string, string>();

  constructor(statements: readonly PreparedQuery<unknown>[]) {
    this.#statements = statements;
    this.#rows = statements.map(() => []);
  }

  get texts(): string[] {
    return this.#statements.map(({ text }) => text);
  }

  /** `pg` reads it, and `text`, at ParseComplete, to remember what the connection has prepared. */
  get name(): string {
    return this.#parsing?.[0] ?? '';
  }

  get text(): string {
    return this.#parsing?.[1] ?? '';
  }

  get #parsing(): [name: string, text: string] | undefined {
    const prepared = this.#connection?.parsedStatements ?? {};
    for (const each of this.#parsed) if (!(each[0] in prepared)) return each;
    return undefined;
  }

  submit(connection: BatchConnection): null {
    this.#connection = connection;
    let messages = '';
    for (const { name, text, values } of this.#statements) {
      if (!(name in connection.parsedStatements) && !this.#parsed.has(name)) {
        this.#parsed.set(name, text);
        messages += parseMessage(name, text);
      }
      messages += bindAndExecuteMessage(name, values);
    }
    if (connection.stream.writable) connection.stream.write(messages + syncMessage, 'latin1');
    return null;
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#rows[this.#current]?.push(this.#statements[this.#current]?.decode(fields));
  }

  handleCommandComplete(): void {
    this.#current += 1;
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** The statements of anything that `query` of a client takes. */
export function textsOf(query: unknown): readonly string[] {
  if (query instanceof StatementBatch) return query.texts;
  if (typeof query === 'string') return [query];
  return typeof query === 'object' && query !== null && 'text' in query ? [String(query.text)] : [];
}

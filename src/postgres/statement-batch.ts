import { serialize } from 'pg-protocol';

import { UnreadableRow } from './failures.ts';
import { toText } from './parameter.ts';
import type { Query } from './statement.ts';

/** The part of `pg`'s connection that a submitted query object works with, as `pg-cursor` does. */
export interface BatchConnection {
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): void };
  /** What is collected for one write; undefined where a batch is written at once. */
  unwritten?: Buffer[] | undefined;
}

/**
 * One or several statements that are sent in one write and executed one after another, with one Sync at the end. Like
 * `pg`'s own `Query`, but columns are never described, which is half of the work for a statement that returns a few
 * rows: `decode` knows them.
 *
 * The first one that fails is the last one that is executed ("Pipelining" in PostgreSQL's manual). `query(batch)` of a
 * client submits it; `callback` is called when PostgreSQL has responded or the connection is lost.
 */
export class StatementBatch {
  /** Called with the rows of each statement, or with the error of the one that failed. */
  callback: ((error: Error | null, rows?: unknown[][]) => void) | undefined;
  readonly #queries: readonly Query<unknown>[];
  readonly #rows: unknown[][] = [[]];
  #unreadable: UnreadableRow | undefined;
  #connection: BatchConnection | undefined;
  /** The texts that are prepared here, by their names. */
  #parsed: Map<string, string> | undefined;

  constructor(queries: readonly Query<unknown>[]) {
    this.#queries = queries;
  }

  get texts(): string[] {
    return this.#queries.map(({ statement }) => statement.text);
  }

  /** `pg` reads it, and `text`, at ParseComplete and at an error, to know what the connection has prepared. */
  get name(): string {
    return this.#parsing?.[0] ?? '';
  }

  get text(): string {
    return this.#parsing?.[1] ?? '';
  }

  get #parsing(): [name: string, text: string] | undefined {
    const submitted = this.#connection?.submittedNamedStatements ?? {};
    for (const each of this.#parsed ?? []) if (each[0] in submitted) return each;
    return undefined;
  }

  submit(connection: BatchConnection): null {
    this.#connection = connection;
    const { parsedStatements, submittedNamedStatements, stream } = connection;
    const messages: Buffer[] = [];
    for (const { statement, values } of this.#queries) {
      const { name = '', text } = statement;
      if (!(name in parsedStatements) && !(name in submittedNamedStatements)) {
        // No types of parameters: the text has casts.
        messages.push(serialize.parse({ name, text }));
        if (name !== '') {
          (this.#parsed ??= new Map()).set(name, text);
          submittedNamedStatements[name] = text;
        }
      }
      messages.push(serialize.bind({ statement: name, values: values.map(toText) }), serialize.execute());
    }
    messages.push(serialize.sync());
    if (connection.unwritten !== undefined) connection.unwritten.push(...messages);
    else if (stream.writable) stream.write(Buffer.concat(messages));
    return null;
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const current = this.#rows.length - 1;
    try {
      this.#rows[current]?.push(this.#queries[current]?.statement.decode(fields));
    } catch (error) {
      if (!(error instanceof UnreadableRow)) throw error;
      this.#unreadable ??= error;
    }
  }

  handleCommandComplete(): void {
    if (this.#rows.length < this.#queries.length) this.#rows.push([]);
  }

  handleReadyForQuery(): void {
    if (this.#unreadable === undefined) this.callback?.(null, this.#rows);
    else this.callback?.(this.#unreadable);
  }

  handleError(error: Error): void {
    // What followed it was not prepared.
    for (const name of this.#parsed?.keys() ?? []) delete this.#connection?.submittedNamedStatements[name];
    this.callback?.(error);
  }
}

/** The statements of anything that `query` of a client takes. */
export function textsOf(query: unknown): readonly string[] {
  if (query instanceof StatementBatch) return query.texts;
  if (typeof query === 'string') return [query];
  return typeof query === 'object' && query !== null && 'text' in query ? [String(query.text)] : [];
}

import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

import pg from 'pg';
import { serialize } from 'pg-protocol';

import { DamagedMessage } from './connection-failure.ts';
import { UnreadableRow } from './failures.ts';
import { type Query, type Statement, toText } from './statement.ts';

/** The part of `pg`'s connection that a submitted query object works with, as `pg-cursor` does. */
export interface BatchConnection {
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  readonly stream: Pick<Socket, 'writable' | 'write' | 'destroy'>;
}

/** `pg` sends nothing but its own queries through a pipeline. */
const PgQuery: new (text: string) => EventEmitter = pg.Query;

/** Called with the rows of each statement, or with the error of the one that failed. */
type Callback = (error: Error | null, rows?: unknown[][]) => void;

/**
 * One or several statements that are sent in one write and executed one after another, with one Sync at the end. Like
 * `pg`'s own `Query`, but columns are never described, which is half of the work for a statement that returns a few
 * rows: `decode` knows them.
 *
 * The first one that fails is the last one that is executed ("Pipelining" in PostgreSQL's manual). `query(batch)` of a
 * client submits it; its callback is called when PostgreSQL has responded or the connection is lost.
 */
export class StatementBatch extends PgQuery {
  /** Where its messages go while it is submitted with others; undefined where they are written at once. */
  unwritten: Buffer[] | undefined;
  readonly #queries: readonly Query<unknown>[];
  readonly #callback: Callback;
  readonly #keepsStatements: boolean;
  /** Of each statement that has ended, and of the one that is under way. */
  readonly #rows: unknown[][] = [[]];
  #ended = 0;
  #unreadable: UnreadableRow | undefined;
  #connection: BatchConnection | undefined;
  /** The texts that are prepared here, by their names. */
  #parsed: Map<string, string> | undefined;

  /** `keepsStatements` is whether the connection may prepare them. */
  constructor(queries: readonly Query<unknown>[], callback: Callback, keepsStatements = true) {
    super('');
    this.#queries = queries;
    this.#callback = callback;
    this.#keepsStatements = keepsStatements;
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

  // The constructor of `pg`'s query sets both.
  set name(_: string | undefined) {}
  set text(_: string | undefined) {}

  get #parsing(): [name: string, text: string] | undefined {
    const submitted = this.#connection?.submittedNamedStatements ?? {};
    for (const each of this.#parsed ?? []) if (each[0] in submitted) return each;
    return undefined;
  }

  /** Returns why it can't be sent: `pg` hands that to `handleError`. */
  submit(connection: BatchConnection): Error | null {
    this.#connection = connection;
    const { stream } = connection;
    try {
      const messages = this.#messages(connection);
      if (this.unwritten !== undefined) this.unwritten.push(...messages);
      else if (stream.writable) stream.write(Buffer.concat(messages));
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  #messages({ parsedStatements, submittedNamedStatements }: BatchConnection): Buffer[] {
    const messages: Buffer[] = [];
    for (const { statement, values } of this.#queries) {
      const { text } = statement;
      const name = (this.#keepsStatements && statement.name) || '';
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
    return messages;
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { columns, decode } = this.#query.statement;
    if (fields.length !== columns) throw new DamagedMessage('it is a row of another statement');
    this.#rowsOfStatement.push(this.#decoded(fields, decode));
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const { statement, values } = this.#query;
    const rows = this.#rowsOfStatement;
    const isRight = statement.columns === 0 || rowsIn(text) === rows.length;
    if (!isRight || statement.areFor?.(rows, values) === false) throw new DamagedMessage(otherRows);
    this.#ended += 1;
    if (this.#ended < this.#queries.length) this.#rows.push([]);
  }

  /** Throws when another number of statements has ended than were sent. */
  handleReadyForQuery(): void {
    const failure = this.#ended === this.#queries.length ? this.#unreadable : new DamagedMessage(otherStatements);
    if (failure === undefined) this.#callback(null, this.#rows);
    else this.#callback(failure);
    if (failure instanceof DamagedMessage) throw failure;
  }

  /** The one under way. */
  get #query(): Query<unknown> {
    const query = this.#queries[this.#ended];
    if (query === undefined) throw new DamagedMessage(otherStatements);
    return query;
  }

  get #rowsOfStatement(): unknown[] {
    return this.#rows[this.#ended] as unknown[];
  }

  #decoded(fields: readonly (string | null)[], decode: Statement<unknown>['decode']): unknown {
    try {
      return decode(fields);
    } catch (error) {
      if (!(error instanceof UnreadableRow)) throw error;
      this.#unreadable ??= error;
      return undefined;
    }
  }

  handleError(error: Error): void {
    // The statements after it were not prepared.
    for (const name of this.#parsed?.keys() ?? []) delete this.#connection?.submittedNamedStatements[name];
    const subject = this.#queries[this.#ended]?.statement.subject;
    this.#callback(subject === undefined ? error : Object.assign(error, { subject }));
  }
}

export const otherRows = 'the statement has returned other rows, or another number of them';
export const otherStatements = 'another number of statements has ended than were sent';

/** How many rows a statement has returned or written, by its command tag: `SELECT 3`, `INSERT 0 1`. */
export function rowsIn(tag: string): number {
  return Number(tag.slice(tag.lastIndexOf(' ') + 1));
}

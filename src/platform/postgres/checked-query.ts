import pg from 'pg';

import { DamagedMessage } from './connection-failure.ts';
import { otherRows, otherStatements, rowsIn } from './statement-batch.ts';

/** The part of `pg`'s query (8.23) that its types omit. */
interface QueryInternals {
  text: string;
  callback: (error: Error | null, result?: unknown) => void;
  /** The error that was thrown while a row was converted. */
  readonly _canceledDueToError: unknown;
  /** Whether it is sent with Parse, Bind and Execute: then it is one statement. */
  requiresPreparation(): boolean;
  handleRowDescription(message: { readonly fields: readonly unknown[] }): void;
  handleDataRow(message: { readonly fields: readonly unknown[] }): void;
  handleCommandComplete(message: { readonly text: string }, connection: unknown): void;
  handleEmptyQuery(connection: unknown): void;
  handleReadyForQuery(connection: unknown): void;
}

const PgQuery = pg.Query as unknown as new (...query: unknown[]) => QueryInternals;

const severalStatements = /;\s*\S/;

/** `pg`'s own query, for what MikroORM writes: its messages are counted as those of a `StatementBatch` are. */
export class CheckedQuery extends PgQuery {
  #ended = 0;
  /** Undefined while no row is expected. */
  #columns: number | undefined;
  #rows = 0;

  override handleRowDescription(message: { readonly fields: readonly unknown[] }): void {
    this.#columns = message.fields.length;
    super.handleRowDescription(message);
  }

  override handleDataRow(message: { readonly fields: readonly unknown[] }): void {
    if (message.fields.length !== this.#columns) throw new DamagedMessage('it is a row of another statement');
    this.#rows += 1;
    super.handleDataRow(message);
    if (this._canceledDueToError) throw new DamagedMessage(`a value is not of its column's type`);
  }

  override handleCommandComplete(message: { readonly text: string }, connection: unknown): void {
    if (this.#columns !== undefined && rowsIn(message.text) !== this.#rows) throw new DamagedMessage(otherRows);
    this.#end();
    super.handleCommandComplete(message, connection);
  }

  override handleEmptyQuery(connection: unknown): void {
    this.#end();
    super.handleEmptyQuery(connection);
  }

  override handleReadyForQuery(connection: unknown): void {
    if (this.#ended > 0) return super.handleReadyForQuery(connection);
    const failure = new DamagedMessage(otherStatements);
    this.callback(failure);
    throw failure;
  }

  #end(): void {
    this.#ended += 1;
    this.#columns = undefined;
    this.#rows = 0;
    const mayBeSeveral = !this.requiresPreparation() && severalStatements.test(this.text);
    if (this.#ended > 1 && !mayBeSeveral) throw new DamagedMessage(otherStatements);
  }
}

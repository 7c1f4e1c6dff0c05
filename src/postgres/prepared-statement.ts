import pg from 'pg';

import { executionMessage } from './execution-message.ts';
import { toText, type Parameter } from './parameter.ts';

type Row = Record<string, unknown>;

/** Converts the text fields to a row. */
export type Decode = (fields: readonly (string | null)[]) => unknown;

/** Converts a column's text to a value. */
interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** The part of `pg`'s connection that a submitted query object works with, as `pg-cursor` does. */
interface Connection {
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  readonly stream: {
    readonly writable: boolean;
    write(bytes: string, encoding: 'latin1'): void;
    cork(): void;
    uncork(): void;
  };
  /** What is collected for one write, one character for each byte; undefined when each message is written at once. */
  unwritten?: string | undefined;
  parse(message: { name: string; text: string }): void;
  bind(message: {
    statement: string;
    values: readonly Parameter[];
    valueMapper: (value: Parameter) => string | null;
  }): void;
  describe(message: { type: 'P' }): void;
  execute(): void;
  sync(): void;
}

const int8: number = pg.types.builtins.INT8;

/**
 * The columns of each statement that a connection has prepared. They never change there, so PostgreSQL describes them
 * only once. Another connection may have prepared the same text after a migration that has changed a type.
 */
const columnsByConnection = new WeakMap<Connection, Map<string, readonly Column[]>>();

/**
 * For a connection to a pooler, which may prepare a statement on another server connection at any time: columns are
 * described each time.
 */
export const describesAlways = new WeakSet<object>();

/**
 * The part of a connection that collects messages: for many small ones in a tick, one write costs less than one each.
 */
export type Collecting = Pick<Connection, 'stream' | 'unwritten'>;

/** Writes what has been collected, if anything. */
export function writeCollected(connection: Collecting): void {
  const { unwritten, stream } = connection;
  if (unwritten === undefined || unwritten === '') return;
  connection.unwritten = '';
  if (stream.writable) stream.write(unwritten, 'latin1');
}

function columnsOf(connection: Connection): Map<string, readonly Column[]> {
  let columns = columnsByConnection.get(connection);
  if (columns === undefined) columnsByConnection.set(connection, (columns = new Map<string, readonly Column[]>()));
  return columns;
}

/**
 * One execution of a prepared statement. Like `pg`'s own `Query`, but without describing the columns each time, which
 * is half of the work for a statement that returns a few rows.
 *
 * `query(statement)` of a client or a pool submits it; `callback` is called when PostgreSQL has responded or the
 * connection is lost.
 */
export class PreparedStatement {
  readonly name: string;
  readonly text: string;
  /** Called with the rows, or with the error. */
  callback: ((error: Error | null, rows?: unknown[]) => void) | undefined;
  readonly #values: readonly Parameter[];
  readonly #rows: unknown[] = [];
  readonly #decode: Decode | undefined;
  readonly #message: string | undefined;
  #columns: readonly Column[] = [];
  #known: Map<string, readonly Column[]> | undefined;

  /**
   * With `decode`, PostgreSQL needn't describe the columns at all. `message` is its `executionMessage`, if that has
   * been built already.
   */
  constructor(name: string, text: string, values: readonly Parameter[], decode?: Decode, message?: string) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.#decode = decode;
    this.#message = message;
  }

  submit(connection: Connection): null {
    const { name, text } = this;
    const { stream } = connection;
    const isKnown = name in connection.parsedStatements || name in connection.submittedNamedStatements;
    if (isKnown && this.#decode !== undefined) {
      const message = this.#message ?? executionMessage(name, this.#values);
      if (connection.unwritten !== undefined) connection.unwritten += message;
      else if (stream.writable) stream.write(message, 'latin1');
      return null;
    }
    writeCollected(connection);
    // Each message would be a system call of its own.
    stream.cork();
    if (!isKnown) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#values, valueMapper: toText });
    if (this.#decode === undefined) this.#describe(connection);
    connection.execute();
    connection.sync();
    stream.uncork();
    return null;
  }

  #describe(connection: Connection): void {
    this.#known = columnsOf(connection);
    const columns = describesAlways.has(connection) ? undefined : this.#known.get(this.name);
    if (columns === undefined) connection.describe({ type: 'P' });
    else this.#columns = columns;
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
    this.#known?.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this.#decode !== undefined) {
      this.#rows.push(this.#decode(fields));
      return;
    }
    const row: Row = {};
    const columns = this.#columns;
    for (let index = 0; index < columns.length; index += 1) {
      const { name, parse } = columns[index] as Column;
      const text = fields[index] as string | null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    // ReadyForQuery follows, and ends it.
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }
}

/** An int64 stays text, as with `pg`'s slower parser. */
function parserOf(dataTypeID: number): Column['parse'] {
  if (dataTypeID === int8) return (text) => text;
  return pg.types.getTypeParser(dataTypeID, 'text') as Column['parse'];
}

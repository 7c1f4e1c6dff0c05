import { executionMessage } from './execution-message.ts';
import { toText, type Parameter } from './parameter.ts';
import type { Query } from './session.ts';

/** The part of `pg`'s connection that a submitted query object works with, as `pg-cursor` does. */
interface StatementConnection {
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
  execute(): void;
  sync(): void;
}

/**
 * The part of a connection that collects messages: for many small ones in a tick, one write costs less than one each.
 */
export type Collecting = Pick<StatementConnection, 'stream' | 'unwritten'>;

/** Writes what has been collected, if anything. */
export function writeCollected(connection: Collecting): void {
  const { unwritten, stream } = connection;
  if (unwritten === undefined || unwritten === '') return;
  connection.unwritten = '';
  if (stream.writable) stream.write(unwritten, 'latin1');
}

/**
 * One execution of a prepared statement. Like `pg`'s own `Query`, but its columns are never described, which is half of
 * the work for a statement that returns a few rows: `decode` knows them.
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
  readonly #decode: Query<unknown>['decode'];
  readonly #message: string | undefined;

  /** `message` is its `executionMessage`, if that has been built already. */
  constructor(
    name: string,
    text: string,
    values: readonly Parameter[],
    decode: Query<unknown>['decode'],
    message?: string,
  ) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.#decode = decode;
    this.#message = message;
  }

  submit(connection: StatementConnection): null {
    const { name, text } = this;
    const { stream } = connection;
    const isKnown = name in connection.parsedStatements || name in connection.submittedNamedStatements;
    if (isKnown) {
      const message = this.#message ?? executionMessage(name, this.#values);
      if (connection.unwritten !== undefined) connection.unwritten += message;
      else if (stream.writable) stream.write(message, 'latin1');
      return null;
    }
    writeCollected(connection);
    // Each message would be a system call of its own.
    stream.cork();
    connection.parse({ name, text });
    connection.submittedNamedStatements[name] = text;
    connection.bind({ statement: name, values: this.#values, valueMapper: toText });
    connection.execute();
    connection.sync();
    stream.uncork();
    return null;
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#rows.push(this.#decode(fields));
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

import type { Parameter } from './messages.ts';

/**
 * Decides on which connection it runs: short reads share some, and may be sent once more when their connection ends,
 * because none of them changes anything; one that writes has a connection of its own, and so has a read that may take
 * long, of which few run at a time.
 */
export type QueryKind = 'short' | 'slow' | 'write';

/** One statement, with its values. */
export interface Query<Row> {
  readonly text: string;
  readonly values: readonly Parameter[];
  /**
   * A connection keeps the statement prepared under this name, which always means the same text. Undefined: planned for
   * its values each time.
   */
  readonly name: string | undefined;
  readonly kind: QueryKind;
  /** Converts PostgreSQL's texts to a row. */
  readonly decode: (fields: readonly (string | null)[]) => Row;
}

/** A query that is always prepared. */
export type PreparedQuery<Row> = Query<Row> & {
  readonly name: string;
  /**
   * Its statement for several at once, if it has one: it takes a list of each value, and returns a row for each of
   * their elements.
   */
  readonly many?: ((lists: readonly Parameter[]) => PreparedQuery<Row>) | undefined;
  /** The row that it nearly always returns. Works that share a transaction may go on with it before it has come. */
  readonly usual?: Row;
};

export function isPrepared<Row>(query: Query<Row>): query is PreparedQuery<Row> {
  return query.name !== undefined;
}

/** How rows of one kind are looked up by their ids, alone or together. */
export interface LookUp<Row> {
  readonly readOne: (id: string) => PreparedQuery<Row>;
  /** The rows may come in any order. */
  readonly readMany: (ids: readonly string[]) => PreparedQuery<Row>;
  /** A method, so that look-ups of all kinds have a common type. */
  idOf(row: Row): string;
}

/**
 * Runs statements: on the process's connections, each in its own transaction, or inside one transaction.
 *
 * Throws UNAVAILABLE when the database can't be reached, and `ForeignKeyViolation`.
 */
export interface Session {
  /** What fails in a transaction ends it, and its statements run one after another. */
  readonly isTransaction: boolean;
  run<Row>(query: Query<Row>): Promise<Row[]>;
  /**
   * Runs a statement whose rows are not needed. In a transaction it is sent with the next one, or with COMMIT, which
   * fails when it fails.
   */
  defer(query: PreparedQuery<unknown>): Promise<void>;
  /** The row with this id, or undefined. Outside of transactions, several at the same time may be one statement. */
  lookUp<Row>(lookUp: LookUp<Row>, id: string): Promise<Row | undefined>;
  /** Commits the work, or rolls it back when it throws. Inside a transaction the work joins that one. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** The same, as `Stores.atomically` has it: a read that fails doesn't end the transaction. */
  atomically<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** The same, as `Stores.insertion` has it. */
  insertion<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

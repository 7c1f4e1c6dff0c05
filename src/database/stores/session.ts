import type { Parameter } from '../prepared-statement.ts';

/** One statement, with its values. */
export interface Query<Row> {
  readonly text: string;
  readonly values: readonly Parameter[];
  /** A connection keeps the statement prepared under this name, which always means the same text. Undefined: planned for its values each time. */
  readonly name: string | undefined;
  /** Needs a connection of its own: it writes, or may take long. Others are short, and share connections. */
  readonly isExclusive: boolean;
  /** Makes a row of the values of its columns: PostgreSQL's texts, or what the driver has made of them. */
  readonly decode: (fields: readonly unknown[]) => Row;
}

/**
 * Where statements are run: on the process's connections, each for itself, or inside one transaction.
 *
 * Throws UNAVAILABLE when the database can't be reached, and `ForeignKeyViolation`.
 */
export interface Session {
  run<Row>(query: Query<Row>): Promise<Row[]>;
  /** Commits what the work has done, or rolls it back when it throws. Inside a transaction the work joins that one. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/**
 * Runs a statement and returns its rows: a prepared one by its name, which always means the same text, or one planned
 * for its values.
 */
export type StatementRunner = <Row>(
  name: string | undefined,
  text: string,
  values: readonly unknown[],
) => Promise<Row[]>;

/** Runs a prepared statement and answers its rows. The same name always means the same text. */
export type StatementRunner = <Row>(name: string, text: string, values: readonly unknown[]) => Promise<Row[]>;

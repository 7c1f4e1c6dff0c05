import { currentRequest } from '../domain/access/current-request.ts';
import type { PgConnection } from './connection.ts';
import { isPrepared, type PreparedQuery, type Query } from './session.ts';
import { StatementBatch } from './statement-batch.ts';

/**
 * Sends a query on a connection that nothing else uses: prepared if it has a name, except in the session of another
 * process.
 */
export async function sendQuery<Row>(connection: PgConnection, query: Query<Row>): Promise<Row[]> {
  if (isPrepared(query)) return (await sendTogether(connection, [query]))[0] as Row[];
  recordWrites([query]);
  return sendUnnamed(connection, query);
}

/**
 * Sends statements in one write, and returns the rows of each. What follows a statement that fails is not executed.
 */
export async function sendTogether(
  connection: PgConnection,
  queries: readonly PreparedQuery<unknown>[],
): Promise<unknown[][]> {
  recordWrites(queries);
  if (!connection.isGuest) return sendPrepared(connection, queries);
  const rows: unknown[][] = [];
  for (const query of queries) rows.push(await sendUnnamed(connection, query));
  return rows;
}

function recordWrites(queries: readonly Query<unknown>[]): void {
  if (queries.some(({ kind }) => kind === 'write')) currentRequest()?.recordWrite();
}

function sendPrepared(connection: PgConnection, queries: readonly PreparedQuery<unknown>[]): Promise<unknown[][]> {
  const batch = new StatementBatch(queries);
  return new Promise((resolve, reject) => {
    batch.callback = (error, rows = []) => (error === null ? resolve(rows) : reject(error));
    connection.submit(batch);
  });
}

/** Values stay texts, as those of prepared statements. */
const types = { getTypeParser: () => (text: string) => text };

async function sendUnnamed<Row>(connection: PgConnection, { text, values, decode }: Query<Row>): Promise<Row[]> {
  const { rows } = await connection.query<(string | null)[]>({ text, values: [...values], rowMode: 'array', types });
  return rows.map(decode);
}

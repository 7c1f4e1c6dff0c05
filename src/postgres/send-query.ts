import { currentRequest } from '../domain/access/current-request.ts';
import type { PgConnection } from './connection.ts';
import { isPrepared, type PreparedQuery, type Query } from './session.ts';
import { StatementBatch } from './statement-batch.ts';

/**
 * Sends a query on a connection that nothing else uses: prepared if it has a name, except in the session of another
 * process.
 */
export function sendQuery<Row>(connection: PgConnection, query: Query<Row>): Promise<Row[]> {
  if (isPrepared(query)) return sendTogether(connection, [], query);
  recordWrites([query]);
  return sendUnnamed(connection, query);
}

/**
 * Sends statements in one write, and returns the rows of the last one. What follows a statement that fails is not
 * executed.
 */
export async function sendTogether<Row>(
  connection: PgConnection,
  before: readonly PreparedQuery<unknown>[],
  last: PreparedQuery<Row>,
): Promise<Row[]> {
  recordWrites([...before, last]);
  if (!connection.isGuest) return sendPrepared(connection, [...before, last]);
  for (const query of before) await sendUnnamed(connection, query);
  return sendUnnamed(connection, last);
}

function recordWrites(queries: readonly Query<unknown>[]): void {
  if (queries.some(({ kind }) => kind === 'write')) currentRequest()?.recordWrite();
}

/** The rows of the last one. */
function sendPrepared<Row>(connection: PgConnection, queries: readonly PreparedQuery<unknown>[]): Promise<Row[]> {
  const batch = new StatementBatch(queries);
  return new Promise((resolve, reject) => {
    batch.callback = (error, rows = []) => (error === null ? resolve(rows.at(-1) as Row[]) : reject(error));
    connection.submit(batch);
  });
}

/** Values stay texts, as those of prepared statements. */
const types = { getTypeParser: () => (text: string) => text };

async function sendUnnamed<Row>(connection: PgConnection, { text, values, decode }: Query<Row>): Promise<Row[]> {
  const { rows } = await connection.query<(string | null)[]>({ text, values: [...values], rowMode: 'array', types });
  return rows.map(decode);
}

import { currentRequest } from '../domain/access/current-request.ts';
import type { PgConnection } from './connection.ts';
import { PreparedStatement } from './prepared-statement.ts';
import { StatementBatch } from './statement-batch.ts';
import type { PreparedQuery, Query } from './session.ts';

/**
 * Sends a query on a connection that nothing else uses: prepared if it has a name, except in the session of another
 * process.
 */
export function sendQuery<Row>(
  connection: PgConnection,
  { name, text, values, kind, decode }: Query<Row>,
): Promise<Row[]> {
  if (kind === 'write') currentRequest()?.recordWrite();
  if (name === undefined || connection.isGuest) return sendUnnamed(connection, text, values, decode);
  return sendPrepared(connection, new PreparedStatement(name, text, values, decode));
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
  if (before.length === 0) return sendQuery(connection, last);
  if (connection.isGuest) {
    for (const query of before) await sendQuery(connection, query);
    return sendQuery(connection, last);
  }
  if ([...before, last].some(({ kind }) => kind === 'write')) currentRequest()?.recordWrite();
  const rows = await sendBatch(connection, new StatementBatch([...before, last]));
  return rows.at(-1) as Row[];
}

function sendBatch(connection: PgConnection, batch: StatementBatch): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    batch.callback = (error, rows = []) => (error === null ? resolve(rows) : reject(error));
    connection.submit(batch);
  });
}

/** Values stay texts, as those of prepared statements. */
const types = { getTypeParser: () => (text: string) => text };

async function sendUnnamed<Row>(
  connection: PgConnection,
  text: string,
  values: Query<Row>['values'],
  decode: Query<Row>['decode'],
): Promise<Row[]> {
  const { rows } = await connection.query<(string | null)[]>({ text, values: [...values], rowMode: 'array', types });
  return rows.map(decode);
}

function sendPrepared<Row>(connection: PgConnection, statement: PreparedStatement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    statement.callback = (error, rows = []) => (error === null ? resolve(rows as Row[]) : reject(error));
    connection.submit(statement);
  });
}

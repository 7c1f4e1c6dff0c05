import { currentRequest } from '../domain/access/current-request.ts';
import type { Connection } from './connection.ts';
import { PreparedStatement } from './prepared-statement.ts';
import type { Query } from './stores/session.ts';

/** Sends a query on a connection that nobody else uses: prepared if it has a name, except in the session of another process. */
export function sendQuery<Row>(
  connection: Connection,
  { name, text, values, kind, decode }: Query<Row>,
): Promise<Row[]> {
  if (kind === 'write') currentRequest()?.recordWrite();
  if (name === undefined || connection.isGuest) return sendUnnamed(connection, text, values, decode);
  return sendPrepared(connection, new PreparedStatement(name, text, values, decode));
}

async function sendUnnamed<Row>(
  connection: Connection,
  text: string,
  values: Query<Row>['values'],
  decode: Query<Row>['decode'],
): Promise<Row[]> {
  const { rows } = await connection.query<unknown[]>({ text, values: [...values], rowMode: 'array' });
  return rows.map(decode);
}

export function sendPrepared<Row>(connection: Connection, statement: PreparedStatement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    statement.callback = (error, rows = []) => (error === null ? resolve(rows as Row[]) : reject(error));
    void connection.query(statement);
  });
}

import { currentRequest } from '../domain/access/current-request.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { PgConnection } from './connection.ts';
import { isOutdated, isReadOnly, recordFailure, throwIfLost } from './driver-errors.ts';
import type { PipelinedConnections } from './pipelined-connections.ts';
import { StatementBatch } from './statement-batch.ts';
import { isPrepared, type LookUp, type PreparedQuery, type Query } from './statement.ts';

interface StatementsOptions {
  readonly pool: ConnectionPool;
  readonly pipeline: PipelinedConnections | undefined;
  /** No statement is prepared in the session of another process. */
  readonly isGuest: boolean;
  /** Receives the driver's error of every failure on an exclusive connection. */
  readonly onFailure: (error: unknown) => void;
}

/** Runs statements, each a transaction of its own, on the connection that it needs. */
export interface Statements {
  readonly send: <Row>(query: Query<Row>) => Promise<Row[]>;
  readonly lookUp: <Row>(lookUp: LookUp<Row>, id: string) => Promise<Row | undefined>;
  /**
   * Runs work on an exclusive connection. Fails at once when an earlier statement of the request has lost the database;
   * failures are translated and remembered for the request.
   */
  readonly guard: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function createStatements({ pool, pipeline, isGuest, onFailure }: StatementsOptions): Statements {
  const guard: Statements['guard'] = async (work) => {
    const request = currentRequest();
    throwIfLost(request);
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      // The address may lead to another server by now, and what is prepared may be outdated.
      if (isReadOnly(error) || isOutdated(error)) pool.renew();
      throw recordFailure(error, request);
    }
  };
  const exclusively = <Row>(isSlow: boolean, send: (connection: PgConnection) => Promise<Row[]>): Promise<Row[]> =>
    guard(async () => {
      try {
        return await pool.run(send, isSlow);
      } catch (error) {
        // It wasn't executed, so it may be retried on a new connection.
        if (!isOutdated(error)) throw error;
        pool.renew();
        return pool.run(send, isSlow);
      }
    });
  const send = <Row>(query: Query<Row>): Promise<Row[]> => {
    if (isPrepared(query) && query.kind === 'short' && pipeline !== undefined && !isGuest)
      return pipeline.query(query) as Promise<Row[]>;
    return exclusively(query.kind === 'slow', (connection) => sendQuery(connection, query));
  };
  return {
    guard,
    send,
    lookUp:
      pipeline === undefined || isGuest
        ? async ({ readOne }, id) => (await send(readOne(id)))[0]
        : <Row>(lookUp: LookUp<Row>, id: string) => pipeline.lookUp(lookUp, id) as Promise<Row | undefined>,
  };
}

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

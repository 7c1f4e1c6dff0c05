import { currentRequest } from '../domain/access/current-request.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { PgConnection } from './connection.ts';
import { isOutdated, isReadOnly, recordFailure, throwIfLost } from './driver-errors.ts';
import type { PipelinedConnections } from './pipelined-connections.ts';
import { StatementBatch } from './statement-batch.ts';
import type { LookUp, Query } from './statement.ts';

interface StatementsOptions {
  readonly pool: ConnectionPool;
  readonly pipeline: PipelinedConnections | undefined;
  /** Receives the driver's error of every failure on an exclusive connection. */
  readonly onFailure: (error: unknown) => void;
}

/** Runs statements, each a transaction of its own, on the connection that it needs. */
export interface Statements {
  readonly run: <Row>(query: Query<Row>) => Promise<Row[]>;
  readonly lookUp: <Row>(lookUp: LookUp<Row>, id: string) => Promise<Row | undefined>;
  /**
   * Runs work on an exclusive connection. Fails at once when an earlier statement of the request has lost the database;
   * failures are translated and remembered for the request.
   */
  readonly guard: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export function createStatements({ pool, pipeline, onFailure }: StatementsOptions): Statements {
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
  const exclusively = <Row>(query: Query<Row>): Promise<Row[]> => {
    const work = async (connection: PgConnection): Promise<Row[]> => (await send(connection, [query]))[0] as Row[];
    const isSlow = query.kind === 'slow';
    return guard(async () => {
      try {
        return await pool.run(work, isSlow);
      } catch (error) {
        // It wasn't executed, so it may be retried on a new connection.
        if (!isOutdated(error)) throw error;
        pool.renew();
        return pool.run(work, isSlow);
      }
    });
  };
  const run = <Row>(query: Query<Row>): Promise<Row[]> =>
    query.kind === 'short' && pipeline !== undefined ? (pipeline.query(query) as Promise<Row[]>) : exclusively(query);
  return {
    guard,
    run,
    lookUp:
      pipeline === undefined
        ? async ({ readOne }, id) => (await run(readOne(id)))[0]
        : <Row>(lookUp: LookUp<Row>, id: string) => pipeline.lookUp(lookUp, id) as Promise<Row | undefined>,
  };
}

/**
 * Sends statements in one write on a connection that nothing else uses, and returns the rows of each. What follows a
 * statement that fails is not executed.
 */
export function send(connection: PgConnection, queries: readonly Query<unknown>[]): Promise<unknown[][]> {
  if (queries.some(({ kind }) => kind === 'write')) currentRequest()?.recordWrite();
  const batch = new StatementBatch(
    // Nothing is prepared in the session of another process.
    connection.isGuest ? queries.map((query) => ({ ...query, name: undefined })) : queries,
  );
  return new Promise((resolve, reject) => {
    batch.callback = (error, rows = []) => (error === null ? resolve(rows) : reject(error));
    connection.submit(batch);
  });
}

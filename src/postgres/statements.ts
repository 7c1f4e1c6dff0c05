import { currentRequest } from '../domain/access/current-request.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Connection } from './connection.ts';
import { isOutdated, isReadOnly, recordFailure, throwIfLost } from './driver-errors.ts';
import type { PipelinedConnections } from './pipelined-connections.ts';
import type { Parameter } from './parameter.ts';
import { PreparedStatement } from './prepared-statement.ts';
import { sendPrepared, sendQuery } from './send-query.ts';
import type { StatementRunner } from './statement-runner.ts';
import type { LookUp, Query } from './session.ts';

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
  readonly run: StatementRunner;
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
  const exclusively = <Row>(isSlow: boolean, send: (connection: Connection) => Promise<Row[]>): Promise<Row[]> =>
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
    const { name, text, values, kind, decode } = query;
    if (name !== undefined && kind === 'short' && pipeline !== undefined && !isGuest)
      return pipeline.query({ name, text, values, decode }) as Promise<Row[]>;
    return exclusively(kind === 'slow', (connection) => sendQuery(connection, query));
  };
  return {
    guard,
    send,
    lookUp:
      pipeline === undefined || isGuest
        ? async ({ readOne }, id) => (await send(readOne(id)))[0]
        : <Row>(lookUp: LookUp<Row>, id: string) => pipeline.lookUp(lookUp, id) as Promise<Row | undefined>,
    run: (name, text, given) => {
      const values = given as readonly Parameter[];
      if (name === undefined || isGuest) {
        return exclusively(
          false,
          async (connection) => (await connection.query({ text, values: [...values] })).rows as never[],
        );
      }
      if (isRead(text) && pipeline !== undefined) return pipeline.query({ name, text, values }) as Promise<never[]>;
      return exclusively(false, (connection) => sendPrepared(connection, new PreparedStatement(name, text, values)));
    },
  };
}

/**
 * Only a read may be retried when its connection ends, and sent once for several callers. None of ours has a side
 * effect.
 */
function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text);
}

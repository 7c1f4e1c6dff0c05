import { CompiledQuery, type Transaction } from 'kysely';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';

import { translateDriverError } from './driver-errors.ts';
import type { PipelinedConnections } from './pipelined-connections.ts';
import { PreparedStatement } from './prepared-statement.ts';
import type { Query, Session } from './stores/session.ts';

interface SessionOptions {
  readonly orm: MikroORM;
  readonly pool: pg.Pool;
  readonly pipeline: PipelinedConnections | undefined;
  /** The engine's session is another's: statements have no names there. */
  readonly isGuest: boolean;
}

/** Runs each statement by itself, on shared connections if it is short. */
export function createSession({ orm, pool, pipeline, isGuest }: SessionOptions): Session {
  const send = <Row>({ name, text, values, isExclusive, decode }: Query<Row>): Promise<Row[]> => {
    if (name === undefined || isGuest) return runUnnamed(pool, text, values, decode);
    if (!isExclusive && pipeline !== undefined) return pipeline.query(name, text, values, decode) as Promise<Row[]>;
    return pool.query(new PreparedStatement(name, text, values, decode)) as unknown as Promise<Row[]>;
  };
  return {
    run: (query) => translated(send(query)),
    transaction: (work) =>
      translated(orm.em.fork().transactional((em) => work(createTransactionSession(transactionOf(em))))),
  };
}

/** The transaction that the entity manager has begun. */
export function transactionOf(em: EntityManager): Transaction<unknown> {
  const transaction: unknown = em.getTransactionContext();
  return transaction as Transaction<unknown>;
}

/** Runs every statement in the transaction, and nowhere else. */
export function createTransactionSession(transaction: Transaction<unknown>): Session {
  const session: Session = {
    run: async <Row>({ text, values, decode }: Query<Row>): Promise<Row[]> => {
      const { rows } = await translated(transaction.executeQuery(CompiledQuery.raw(text, [...values])));
      return rows.map((row) => decode(Object.values(row as Record<string, unknown>)));
    },
    transaction: (work) => work(session),
  };
  return session;
}

async function runUnnamed<Row>(
  pool: pg.Pool,
  text: string,
  values: Query<Row>['values'],
  decode: Query<Row>['decode'],
) {
  const { rows } = await pool.query<unknown[]>({ text, values: [...values], rowMode: 'array' });
  return rows.map(decode);
}

async function translated<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw translateDriverError(error);
  }
}

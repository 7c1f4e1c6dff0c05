import { translateDriverError } from '../postgres/driver-errors.ts';
import type { ConnectionLease } from './lease.ts';
import type { LookUp, Query, Session } from '../postgres/statement.ts';

export type RunQuery = <Row>(query: Query<Row>) => Promise<Row[]>;

/** Runs every statement in the transaction. */
export function createTransactionSession(lease: ConnectionLease, run: RunQuery = (query) => lease.run(query)): Session {
  const session: Session = {
    isTransaction: true,
    run: async (query) => {
      try {
        return await run(query);
      } catch (error) {
        throw translateDriverError(error);
      }
    },
    defer: async (query) => lease.defer(query),
    lookUp: async <Row>({ readOne }: LookUp<Row>, id: string) => (await session.run(readOne(id)))[0],
    transaction: (work) => work(session),
    atomically: (work) => work(session),
    insertion: (work) => work(session),
  };
  return session;
}

import type { RemoteClock } from '../../platform/remote-clock.ts';
import { type Session, statementOf } from '../../platform/postgres/index.ts';
import { millisOf } from '../sql/value-types.ts';

/** The time of the database in milliseconds since 1970, also inside a transaction. */
export const clockMillis = millisOf('clock_timestamp()');

const statement = statementOf<number>(`select ${clockMillis}`, 1, ([millis]) => Number(millis));

/** Throws UNAVAILABLE when the database can't be reached. */
export async function readClock(session: Session, clock: RemoteClock): Promise<void> {
  const askedAt = clock.start();
  const [millis] = await session.run(statement, []);
  if (millis !== undefined) clock.record(millis, askedAt);
}

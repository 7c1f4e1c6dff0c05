import { commandOf, statementOf } from '../statement.ts';

/** How far a server has written its log, or replayed it: positions of two histories can't be compared. */
export interface LogPosition {
  readonly bytes: bigint;
  /** The system's identifier, and the random value that was written when its time line began. */
  readonly history: string;
}

export function reaches(replayed: LogPosition | undefined, asked: LogPosition): boolean {
  return replayed !== undefined && replayed.history === asked.history && replayed.bytes >= asked.bytes;
}

export type PositionStatements = ReturnType<typeof positionStatements>;

const timeLine = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)';
const history = "system_identifier || '/' || history";

/** `table` has one row, with the columns `time_line` and `history`. */
export function positionStatements(table: string) {
  const from = `from ${table}, pg_control_system()`;
  return {
    /** On the primary. A commit is in the log when anybody sees it, unless it is asynchronous. */
    flushed: statementOf(
      `select pg_current_wal_flush_lsn() - '0/0'::pg_lsn, current_setting('synchronous_commit') = 'off'`,
      2,
      ([bytes, isAsynchronous]) => ({ bytes: bytesOf(bytes), isAsynchronous: isAsynchronous === 't' }),
    ),
    /** On the primary. It is of another time line when it has been promoted since the history was written. */
    history: statementOf(`select ${history}, time_line = ${timeLine} ${from}`, 2, ([ofHistory, isOfTimeLine]) => ({
      history: ofHistory ?? '',
      isOfTimeLine: isOfTimeLine === 't',
    })),
    /** On a standby, before the reads, in a statement of its own: its snapshot is older than what the function says. */
    replayed: statementOf<LogPosition>(
      `select pg_last_wal_replay_lsn() - '0/0'::pg_lsn, ${history} ${from}`,
      2,
      ([bytes, ofHistory]) => ({ bytes: bytesOf(bytes), history: ofHistory ?? '' }),
    ),
    /** On the primary. Two promotions can take the same number: hence the random value. */
    beginHistory: commandOf(
      `update ${table} set time_line = ${timeLine}, history = gen_random_uuid() where time_line <> ${timeLine}`,
    ),
  };
}

/** A server without a replay position is at none. */
function bytesOf(text: string | null = null): bigint {
  return BigInt(text ?? -1);
}

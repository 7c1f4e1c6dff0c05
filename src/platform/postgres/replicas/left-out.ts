import { unusableStandby } from '../connection-failure.ts';
import { isLoss } from '../driver-errors.ts';

/** Why the primary serves a read that a replica may serve. */
export type LeftOutReason =
  /** It hasn't replayed so far in time. */
  | 'lagging'
  /** It isn't reached, or a connection to it has ended. */
  | 'lost'
  /** It doesn't respond in time. */
  | 'silent'
  /** It is of another time line or system than the primary, or hasn't replayed the time line's beginning yet. */
  | 'time_line'
  /** It is no standby of the primary, or can't say how far it has replayed. */
  | 'unsuitable'
  /** It has cancelled the statement, or refused it. */
  | 'failed'
  /** The primary hasn't said in time how far its log is. */
  | 'unknown_position'
  /** Commits are seen before they are in the log, so no position covers them. */
  | 'asynchronous';

/** The primary serves what this replica doesn't. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
  readonly reason: LeftOutReason;

  constructor(reason: LeftOutReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** What a failure says of the replica. */
export function leftOut(error: unknown): LeftOut {
  if (error instanceof LeftOut) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message: string };
  if (code === unusableStandby) return new LeftOut('unsuitable', message, error);
  return new LeftOut(isLoss(error) ? 'lost' : 'failed', message, error);
}

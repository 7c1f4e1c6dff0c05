import type { NoticeMessage } from 'pg-protocol/dist/messages.js';

import { ConnectionFailure } from './connection-failure.ts';

/** The function of PostgreSQL that waits for a synchronous standby (15 to 18). */
const waitRoutine = 'SyncRepWaitForLSN';

/**
 * The failure that a warning stands for: when the wait of a commit for its synchronous standby is cancelled, PostgreSQL
 * reports success, though a fail-over would lose the transaction. Undefined for any other notice.
 */
export function unconfirmedCommit({ routine }: Pick<NoticeMessage, 'routine'>): ConnectionFailure | undefined {
  if (routine !== waitRoutine) return undefined;
  return new ConnectionFailure(new Error('A commit was not confirmed by a synchronous standby.'));
}

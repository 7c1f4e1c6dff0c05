import type { NoticeMessage } from 'pg-protocol/dist/messages.js';

/** The code when the cause of a failed connection has none. */
export const noConnection = 'NO_CONNECTION';

/** PostgreSQL's code for a write that is refused because the transaction, or the server, is read-only. */
export const readOnlyState = '25006';

/** The code of a server that was to be a standby, and is none. */
export const unusableStandby = 'UNUSABLE_STANDBY';

/** A message of the server can't be read, or is out of place: nothing that follows can be trusted. */
export class DamagedMessage extends Error {
  override readonly name = 'DamagedMessage';

  constructor(reason: string) {
    super(`a message of the database can't be read: ${reason}`);
  }
}

/** A failed connection. The message is that of the cause, in one line and without a password. */
export class ConnectionFailure extends Error {
  override readonly name = 'ConnectionFailure';
  /** The cause's code: MikroORM wraps errors and keeps only this. */
  readonly code: string;

  constructor(cause: unknown) {
    const reason: unknown = cause instanceof AggregateError ? (cause.errors[0] ?? cause) : cause;
    const { message, code } = reason as { readonly message?: unknown; readonly code?: unknown };
    const text = String(message).split('\n')[0];
    super(isTlsFailure(code, text) ? `TLS to the database failed: ${text}` : text, { cause });
    this.code = typeof code === 'string' ? code : noConnection;
  }
}

function isTlsFailure(code: unknown, message = ''): boolean {
  return (
    /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/.test(String(code)) ||
    /\bSSL\b/.test(message)
  );
}

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

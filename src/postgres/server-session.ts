import type pg from 'pg';

import type { TargetSession } from './connection-config.ts';

/** What a server says of a session when it begins. */
export interface ServerSession {
  /** A pooler shares the server's sessions: then the backend key isn't the session's. */
  readonly isBehindPooler: boolean;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

interface Reply extends Omit<ServerSession, 'isBehindPooler'> {
  readonly id: number;
  readonly timeout: number;
}

const question = `select pg_backend_pid() as id, (extract(epoch from current_setting('statement_timeout')::interval) * 1000)::float8 as timeout,
    pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** One processor for a statement; exact numbers and plain transactions, whatever the role or the database has set. */
const sessionSettings = [
  'set max_parallel_workers_per_gather = 0',
  'set extra_float_digits = 1',
  "set default_transaction_isolation = 'read committed'",
];

/**
 * Asks for what a pooler hides, and sets what a session needs; its timeout unless a shorter one is set. Behind a pooler
 * nothing is set, because another client may get the session. `backendKey` is the process that the connection itself
 * was told.
 */
export async function prepareServerSession(
  send: (sql: string) => Promise<unknown>,
  backendKey: number | null,
  statementTimeoutMillis: number | undefined,
): Promise<ServerSession> {
  const { rows } = (await send(question)) as pg.QueryResult<Reply>;
  const [{ id, timeout, isStandby, isReadOnly }] = rows as [Reply];
  const isBehindPooler = id !== backendKey;
  if (!isBehindPooler && statementTimeoutMillis !== undefined) {
    const settings = [...sessionSettings];
    const isShorter = timeout > 0 && timeout <= statementTimeoutMillis;
    if (!isShorter) settings.push(`set statement_timeout = ${statementTimeoutMillis}`);
    await send(settings.join('; '));
  }
  return { isBehindPooler, isStandby, isReadOnly };
}

/** One session for all connections: the last one's named statements are still there. It ignores a startup packet. */
export async function prepareEmbeddedSession(send: (sql: string) => Promise<unknown>): Promise<void> {
  await send('discard all');
  await send(`set time zone 'UTC'`);
}

/** A setting that the server reports when a session begins, and whenever it changes. */
export interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** Whether the transactions of a session can write, as far as its server has said. */
export class SessionState {
  /** PostgreSQL reports both settings from version 14 on without being asked; a pooler may not. */
  #isStandby = false;
  #isReadOnlyByDefault = false;

  record({ parameterName, parameterValue }: ParameterStatus): void {
    if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    else if (parameterName === 'default_transaction_read_only') this.#isReadOnlyByDefault = parameterValue === 'on';
  }

  /** What the server has replied when it was asked. */
  set(isStandby: boolean, isReadOnly: boolean): void {
    this.#isStandby = isStandby;
    this.#isReadOnlyByDefault = isReadOnly && !isStandby;
  }

  get isReadOnly(): boolean {
    return this.#isStandby || this.#isReadOnlyByDefault;
  }

  /** Why the session isn't good for this; undefined if it is. */
  unsuitable(target: TargetSession): string | undefined {
    if (target === 'any') return undefined;
    if (this.#isStandby) return 'is a standby';
    return target === 'read-write' && this.#isReadOnlyByDefault ? 'is read-only' : undefined;
  }
}

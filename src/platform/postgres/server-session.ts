import type pg from 'pg';

import type { TargetSession } from './servers/connection-config.ts';
import { lockWaitMillis } from './lock-wait.ts';

/**
 * Ours on a server; the one that all connections of the embedded database share; or that one beside the process which
 * has the engine: it must stay as it is.
 */
export type SessionKind = 'server' | 'embedded' | 'guest';

/** The parameters that a server reports of a session when it begins. */
interface Reply {
  readonly id: number;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

const sessionQuery = `select pg_backend_pid() as id, pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** One processor for a statement; exact numbers and plain transactions, whatever the role or the database has set. */
const sessionSettings = [
  'set max_parallel_workers_per_gather = 0',
  'set extra_float_digits = 1',
  "set default_transaction_isolation = 'read committed'",
];

/** How long a statement may take, and wait for a lock; undefined for no limit, and for `lockWaitMillis`. */
export interface SessionLimits {
  readonly statementTimeoutMillis?: number | undefined;
  readonly lockTimeoutMillis?: number | undefined;
}

/** Sets it unless a shorter one is set for the role or the database. */
function limit(setting: 'lock_timeout' | 'statement_timeout', millis: number): string {
  return `select set_config('${setting}', '${millis}ms', false)
  where current_setting('${setting}')::interval not between '1 ms' and '${millis} ms'`;
}

/** Where the role or the database has set a statement timeout that is as short: what waits ends as what waits. */
const shorterLockTimeout = `select set_config('lock_timeout', (extract(epoch from statement) * 900)::int || 'ms', false)
  from (select current_setting('statement_timeout')::interval, current_setting('lock_timeout')::interval) as timeouts (statement, lock)
  where lock >= statement and statement > interval '0'`;

/** A setting that the server reports when a session begins, and whenever it changes. */
export interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

type Send = (sql: string) => Promise<unknown>;

/** The session of a connection: how it is prepared, and what its server has said of it. */
export class ServerSession {
  /** Whether statements may be prepared in it: not in that of another process. */
  readonly keepsStatements: boolean;
  /** Whether its statements can be cancelled: not those of the embedded database. */
  readonly isCancellable: boolean;
  readonly #kind: SessionKind;
  #isBehindPooler = false;
  /** PostgreSQL reports both settings from version 14 on without being asked; a pooler may not. */
  #isStandby = false;
  #isReadOnlyByDefault = false;

  constructor(kind: SessionKind) {
    this.#kind = kind;
    this.keepsStatements = kind !== 'guest';
    this.isCancellable = kind === 'server';
  }

  /** Whether a pooler shares the server's sessions: then the backend key isn't the session's. */
  get isBehindPooler(): boolean {
    return this.#isBehindPooler;
  }

  /** Whether its transactions can only read, as far as the server has said. */
  get isReadOnly(): boolean {
    return this.#isStandby || this.#isReadOnlyByDefault;
  }

  /** `backendKey` is the process that the connection itself was told. */
  async prepare(send: Send, backendKey: number | null, limits: SessionLimits): Promise<void> {
    if (this.#kind === 'server') await this.#prepareOnServer(send, backendKey, limits);
    if (this.#kind !== 'embedded') return;
    // One session for all connections: the last one's named statements are still there. It ignores a startup packet.
    await send('discard all');
    await send(`set time zone 'UTC'`);
  }

  record({ parameterName, parameterValue }: ParameterStatus): void {
    if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    else if (parameterName === 'default_transaction_read_only') this.#isReadOnlyByDefault = parameterValue === 'on';
  }

  /** Why the session isn't good for this; undefined if it is. */
  unsuitable(target: TargetSession | undefined): string | undefined {
    if (target === undefined) return undefined;
    if (target === 'standby') return this.#unsuitableAsStandby();
    if (this.#isStandby) return 'is a standby';
    return target === 'read-write' && this.#isReadOnlyByDefault ? 'is read-only' : undefined;
  }

  #unsuitableAsStandby(): string | undefined {
    if (this.#isBehindPooler) return 'is behind a pooler or a balancer, which may lead to several servers';
    return this.#isStandby ? undefined : 'is no standby';
  }

  /**
   * Queries what a pooler hides, and sets what a session needs; the timeouts only when none shorter is set. Behind a
   * pooler nothing is set, because another client may get the session.
   */
  async #prepareOnServer(
    send: Send,
    backendKey: number | null,
    { statementTimeoutMillis, lockTimeoutMillis = lockWaitMillis }: SessionLimits,
  ): Promise<void> {
    const { rows } = (await send(sessionQuery)) as pg.QueryResult<Reply>;
    const [reply] = rows;
    if (reply === undefined) throw new Error('The database has not said which session this is.');
    const { id, isStandby, isReadOnly } = reply;
    this.#isBehindPooler = id !== backendKey;
    if (!this.#isBehindPooler && statementTimeoutMillis !== undefined) {
      const limits = [limit('lock_timeout', lockTimeoutMillis), limit('statement_timeout', statementTimeoutMillis)];
      await send([...sessionSettings, ...limits, shorterLockTimeout].join('; '));
    }
    this.#isStandby = isStandby;
    this.#isReadOnlyByDefault = isReadOnly && !isStandby;
  }
}

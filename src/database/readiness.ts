import { migrations } from '../../migrations/index.ts';
import { DomainError } from '../domain/errors.ts';
import type { PgConnections } from '../postgres/connections.ts';
import { isDiskFull, isReadOnly } from '../postgres/driver-errors.ts';
import { objectStatement, type Session } from '../postgres/statement.ts';

/** The table in which MikroORM keeps what was applied. */
export const migrationsTable = 'petstore_migrations';

const appliedStatement = objectStatement<{ readonly name: string; readonly isReadOnly: boolean }>(
  `select name, current_setting('transaction_read_only') = 'on' as "isReadOnly" from ${migrationsTable}`,
);

/**
 * Sorts more than fits into its memory, so that PostgreSQL writes a temporary file; the setting ends with the
 * statement's transaction.
 */
const diskProbe =
  `select set_config('work_mem', '64kB', true); ` +
  'select count(*) from (select n from generate_series(1, 8000) as n order by n desc) as sorted';

/** The timeout of the probe, which may have to wait for a connection. */
const probeWaitMillis = 500;

const takesNoWrites = 'The database takes no writes.';

/**
 * Whether the database can serve: it is reached and takes writes, has all migrations, a connection, and free space.
 *
 * A full disk accepts small writes for a while, where a page has space, and refuses others. So a refused write is
 * remembered until a probe has written a file, and the probe is repeated with each check.
 */
export class Readiness {
  readonly #connections: Pick<PgConnections, 'pool' | 'pipeline'>;
  #isDiskFull = false;
  #probing: Promise<void> | undefined;

  constructor(connections: Pick<PgConnections, 'pool' | 'pipeline'>) {
    this.#connections = connections;
  }

  /** Records the error of a failed statement. */
  record(error: unknown): void {
    if (isDiskFull(error)) this.#isDiskFull = true;
  }

  /** Throws UNAVAILABLE, with a reason for everybody. */
  async check(session: Session): Promise<void> {
    const { pool, pipeline } = this.#connections;
    const applied = await session.run(appliedStatement, []).catch((error: unknown) => {
      if (isReadOnly(error)) throw notReady(takesNoWrites, error);
      throw notReady("The database can't be reached, or doesn't respond in time.", error);
    });
    if (applied.some((row) => row.isReadOnly)) {
      // The address may lead to another server by now.
      pool.renew();
      pipeline?.renew();
      throw notReady(takesNoWrites);
    }
    const names = new Set(applied.map(({ name }) => name));
    const missing = migrations.filter(({ name }) => !names.has(name));
    if (missing.length > 0) throw notReady(`Migrations are missing in the database: ${missing.length}.`);
    if (pool.isStuck) throw notReady('No connection to the database has become free for a long time.');
    await this.#probeInTime();
    if (this.#isDiskFull) throw notReady('The disk of the database is full.');
  }

  async #probeInTime(): Promise<void> {
    this.#probing ??= this.#probe().finally(() => (this.#probing = undefined));
    let timeout: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timeout = setTimeout(resolve, probeWaitMillis);
    });
    await Promise.race([this.#probing, tooLate]).finally(() => clearTimeout(timeout));
  }

  /** Only errors of the disk count, not those of the connection. */
  async #probe(): Promise<void> {
    try {
      await this.#connections.pool.run((connection) => connection.query(diskProbe));
      this.#isDiskFull = false;
    } catch (error) {
      this.record(error);
    }
  }
}

/** Public: it names a cause, and no details. */
function notReady(reason: string, cause?: unknown): DomainError {
  return new DomainError('UNAVAILABLE', reason, { retryAfterSeconds: 5, cause });
}

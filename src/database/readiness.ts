import { migrations } from '../../migrations/index.ts';
import { isUnavailable } from '../domain/errors.ts';
import { within } from '../platform/background.ts';
import type { Caller } from '../platform/callers/index.ts';
import {
  isDiskFull,
  isReadOnly,
  objectStatement,
  type PgConnections,
  type Session,
} from '../platform/postgres/index.ts';

/** The table in which MikroORM keeps what was applied. */
export const migrationsTable = 'petstore_migrations';

interface DatabaseState {
  /** Of the migrations that were applied. */
  readonly names: readonly string[];
  readonly isReadOnly: boolean;
  /** The tables of which row-level security shows this role a part. */
  readonly filtered: readonly string[];
}

const stateStatement = objectStatement<DatabaseState>(
  `select array(select name from ${migrationsTable}) as names,
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    array(
      select relname from pg_class
      where relrowsecurity and relnamespace = to_regnamespace(quote_ident(current_schema())) and row_security_active(oid)
      order by relname
    ) as filtered`,
);

/** Sorts more than fits into its memory, so that PostgreSQL writes a temporary file. */
const diskProbe =
  `select set_config('work_mem', '64kB', true); ` +
  'select count(*) from (select n from generate_series(1, 8000) as n order by n desc) as sorted';

/** The timeout of the probe, which may have to wait for a connection. */
const probeWaitMillis = 500;

const takesNoWrites = 'The database takes no writes.';

/** Why the database can't serve: the reason of each check that failed, for everybody. */
export interface ReadinessFindings {
  readonly database?: string | undefined;
  readonly migrations?: string | undefined;
  /** What an operator has to look at; the database serves. */
  readonly warnings: readonly string[];
}

/**
 * Whether the database can serve: it is reached and takes writes, has all migrations, a connection, and free space.
 *
 * A full disk accepts small writes for a while, where a page has space, and refuses others. So a refused write is
 * remembered until a probe has written a file, and the probe is repeated with each check.
 *
 * While the database isn't reached, its migrations are those that were seen last.
 */
export class Readiness {
  readonly #connections: Pick<PgConnections, 'pool' | 'servers'>;
  #isDiskFull = false;
  #probing: Promise<void> | undefined;
  #migrations: string | undefined;
  #warnings: readonly string[] = [];

  constructor(connections: Pick<PgConnections, 'pool' | 'servers'>) {
    this.#connections = connections;
  }

  record(error: unknown): void {
    if (isDiskFull(error)) this.#isDiskFull = true;
  }

  /** Never rejects. */
  async check(caller: Caller, session: Session): Promise<ReadinessFindings> {
    const database = await this.#checkDatabase(caller, session);
    return { database, migrations: this.#migrations, warnings: this.#warnings };
  }

  async #checkDatabase(caller: Caller, session: Session): Promise<string | undefined> {
    const { pool, servers } = this.#connections;
    let state: DatabaseState | undefined;
    try {
      [state] = await session.run(stateStatement, []);
    } catch (error) {
      if (isReadOnly(error)) return takesNoWrites;
      return isUnavailable(error)
        ? "The database can't be reached, or doesn't respond in time."
        : `The table ${migrationsTable} can't be read.`;
    }
    const names = new Set(state?.names);
    const missing = migrations.filter(({ name }) => !names.has(name)).length;
    this.#migrations = missing === 0 ? undefined : `Migrations are missing in the database: ${missing}.`;
    this.#warnings = state?.filtered.length ? [filteredTables(state.filtered)] : [];
    if (state?.isReadOnly === true) {
      // The address may lead to another server by now.
      servers.renew();
      return takesNoWrites;
    }
    if (pool.isStuck) return 'No connection to the database has become free for a long time.';
    await this.#probeInTime(caller);
    return this.#isDiskFull ? 'The disk of the database is full.' : undefined;
  }

  async #probeInTime(caller: Caller): Promise<void> {
    this.#probing ??= this.#probe(caller).finally(() => (this.#probing = undefined));
    await within(probeWaitMillis, this.#probing);
  }

  /** Only errors of the disk count, not those of the connection. */
  async #probe(caller: Caller): Promise<void> {
    try {
      await this.#connections.pool.run(caller, (connection) => connection.query(diskProbe));
      this.#isDiskFull = false;
    } catch (error) {
      this.record(error);
    }
  }
}

function filteredTables(tables: readonly string[]): string {
  return (
    `Row-level security hides rows of these tables from the service's role: ${tables.join(', ')}. ` +
    'Alter the role to have BYPASSRLS, or disable row-level security on them.'
  );
}

import { migrations } from '../../../migrations/index.ts';
import { type DatabaseLocation, databaseAt } from '../../settings/database-url.ts';
import { openMaintenance, type PgConnection } from '../../platform/postgres/index.ts';
import { migrationsTable } from '../readiness.ts';
import { assertMadeByRelease, newerMigrations } from './migrate.ts';
import { assertSuitable } from './server-requirements.ts';

/** PostgreSQL's locks on a table, weakest first. */
export type LockMode =
  | 'ACCESS SHARE'
  | 'ROW SHARE'
  | 'ROW EXCLUSIVE'
  | 'SHARE UPDATE EXCLUSIVE'
  | 'SHARE'
  | 'SHARE ROW EXCLUSIVE'
  | 'EXCLUSIVE'
  | 'ACCESS EXCLUSIVE';

export interface PendingMigration {
  readonly name: string;
  /** The strongest on each table that exists now. */
  readonly locks: readonly { readonly table: string; readonly mode: LockMode }[];
}

/** Reads in a transaction that can't write; tables of the store may be locked meanwhile. Throws as `migrate` does. */
export async function readPendingMigrations(location: DatabaseLocation): Promise<{
  readonly pending: readonly PendingMigration[];
  /** The names of those that this version doesn't have. */
  readonly newer: readonly string[];
}> {
  const database = databaseAt(location);
  const connection = await openMaintenance(database);
  try {
    if (typeof location === 'string') await assertSuitable(connection, () => openMaintenance(database));
    await connection.query(`begin read only; set local lock_timeout = '1s'`);
    const tables = await readNames(
      connection,
      `select relname::text as name from pg_class where relkind in ('r', 'p') and relnamespace = to_regnamespace(quote_ident(current_schema()))`,
    );
    const executed = tables.has(migrationsTable)
      ? await readNames(connection, `select name from ${migrationsTable}`)
      : new Set<string>();
    assertMadeByRelease(executed);
    const missing = migrations.filter(({ name }) => !executed.has(name));
    return { pending: missing.map((each) => pendingOf(each, tables)), newer: newerMigrations(executed) };
  } finally {
    await connection.close();
  }
}

async function readNames(connection: PgConnection, statement: string): Promise<ReadonlySet<string>> {
  const { rows } = await connection.query<{ name: string }>(statement);
  return new Set(rows.map(({ name }) => name));
}

function pendingOf({ name, locks }: (typeof migrations)[number], tables: ReadonlySet<string>): PendingMigration {
  const all: Readonly<Record<string, LockMode>> = locks;
  return {
    name,
    locks: Object.entries(all).flatMap(([table, mode]) => (tables.has(table) ? [{ table, mode }] : [])),
  };
}

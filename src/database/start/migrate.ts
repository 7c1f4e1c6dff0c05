import { setTimeout as wait } from 'node:timers/promises';

import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';
import type { Transaction } from 'kysely';

import { migrations } from '../../../migrations/index.ts';
import type { DatabaseLocation } from '../../settings/database-url.ts';
import { nouns } from '../../domain/nouns.ts';
import { createMaintenanceOrm } from '../database.ts';
import { openSuitable } from './check-server.ts';
import { UnsuitableServer } from './server-requirements.ts';

/** An arbitrary number that other programs are unlikely to lock. */
const lockNumber = 7_338_474_783;

/** Later statements wait behind a migration that waits, also those of the version that is still running. */
const lockTimeout = '1s';
/** A role's own timeouts, which are meant for requests, would end a long migration, or the wait for that of another. */
const withoutTimeouts =
  'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';
const lockAttempts = 10;
const lockPauseMillis = 1_000;
const lockNotAvailable = '55P03';
const maxShownLength = 120;

/** The first migration of a database that was made before 1.0.0. Its tables are others, with the same names. */
const firstBeforeRelease = '2026-11-21-store';

/** PostgreSQL's codes for what the schema or its rows don't allow, without those of missing rights. */
const schemaErrors = /^(?:23|42(?!501))/;

/**
 * Takes rights to change the log of events from everybody but its owner, as the migrations do.
 *
 * A restore gives new tables what default privileges say, so this runs with every migration run, where nothing is
 * pending too. Without effect for a role that owns none of the tables.
 */
const eventRights = `
  select petstore_protect_events(log.oid)
  from pg_class as log
  where (
      log.oid in ('events'::regclass, 'event_outbox'::regclass, 'event_backlog'::regclass, 'event_state'::regclass)
      or log.oid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass)
    )
    and pg_has_role(log.relowner, 'usage')
    and exists (
      select from aclexplode(log.relacl) as granted
      where granted.grantee <> log.relowner and granted.privilege_type <> 'SELECT'
    )`;

interface AppliedMigration {
  readonly name: string;
  readonly seconds: number;
}

export interface MigrateOptions {
  readonly location: DatabaseLocation;
  /** Fills a database that has just got its first tables, in the same transaction. */
  readonly fill?: ((em: SqlEntityManager) => Promise<void>) | undefined;
  /** Receives a sentence for people when it has to wait for another process or transaction. */
  readonly onWait?: ((reason: string) => void) | undefined;
  /** Receives each migration of this run once all are committed. */
  readonly onMigrated?: ((migration: AppliedMigration) => void) | undefined;
  /** Receives the migrations of a newer version, if there are any: this one can serve beside it. */
  readonly onNewer?: ((names: readonly string[]) => void) | undefined;
}

/**
 * Brings the tables up to date, all or nothing; processes that start at the same time do it once.
 *
 * Because what fills it comes with the very first tables, a process that is killed meanwhile leaves nothing behind, and
 * a demo store that was emptied stays empty. Throws UnsuitableServer and ConnectionFailure.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { location, onWait = () => undefined } = options;
  // The embedded database has a single process, and its connections would share the lock.
  if (typeof location !== 'string') return withOrm(options, undefined, migrateUp);
  await whileLocked(location, onWait, (schema) =>
    withOrm(options, schema, async (run) => {
      await withLocks(run, (em) => assertUnlocked(run, em));
      await migrateUp(run);
    }),
  );
}

/** MikroORM looks for its own table in this schema, and makes it there; else in `public`. */
async function withOrm(
  { location, fill, onWait = () => undefined, onMigrated, onNewer }: MigrateOptions,
  schema: string | undefined,
  work: (run: MigrationRun) => Promise<void>,
): Promise<void> {
  const sent = { statement: '' };
  const record = (sql: string): void => {
    if (!sql.startsWith('rollback')) sent.statement = sql;
  };
  const orm = createMaintenanceOrm(location, schema, record);
  try {
    await work({ orm, fill, onWait, onMigrated, onNewer, sent });
  } finally {
    await orm.close(true);
  }
}

interface MigrationRun extends Pick<MigrateOptions, 'fill' | 'onMigrated' | 'onNewer'> {
  readonly orm: MikroORM;
  readonly onWait: (reason: string) => void;
  /** The last one. */
  readonly sent: { readonly statement: string };
}

async function migrateUp(run: MigrationRun): Promise<void> {
  // Before the transaction, because they make the migrator's own table on a connection of its own.
  const executed = new Set((await run.orm.migrator.getExecuted()).map(({ name }) => name));
  assertMadeByRelease(executed);
  const newer = newerMigrations(executed);
  if (newer.length > 0) run.onNewer?.(newer);
  if ((await run.orm.migrator.getPending()).length > 0) {
    const applied = await withLocks(run, (em) => migrateOnce(run, em));
    for (const migration of applied) run.onMigrated?.(migration);
  }
  await run.orm.em.getConnection().execute(eventRights);
}

/** Those that this version doesn't have. */
export function newerMigrations(executed: ReadonlySet<string>): readonly string[] {
  const known = new Set<string>(migrations.map(({ name }) => name));
  return [...executed].filter((name) => !known.has(name));
}

/** Throws UnsuitableServer for a database with these migrations of before 1.0.0. */
export function assertMadeByRelease(executed: ReadonlySet<string>): void {
  if (executed.has(firstBeforeRelease)) throw new UnsuitableServer(madeBeforeRelease);
}

type Work<Result> = (em: SqlEntityManager) => Promise<Result>;

/** Does it in a transaction, again while somebody holds a lock on a table. Throws UnsuitableServer after the last time. */
async function withLocks<Result>({ orm, onWait, sent }: MigrationRun, work: Work<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await orm.em.fork().transactional(async (em) => {
        await em.execute(`${withoutTimeouts}; set local lock_timeout = '${lockTimeout}'`);
        return work(em);
      });
    } catch (error) {
      const { code, message, where } = error as Error & { readonly code?: unknown; readonly where?: string };
      if (schemaErrors.test(String(code))) throw new UnsuitableServer(couldNotMigrate(message), { cause: error });
      if (code !== lockNotAvailable) throw error;
      const [, inner = sent.statement] = /SQL statement "(.*?)"$/ms.exec(where ?? '') ?? [];
      const waiting = JSON.stringify(inner.trim().replaceAll(/\s+/g, ' ').slice(0, maxShownLength));
      const { holder, end } = await findLockHolder(orm);
      if (attempt === lockAttempts) throw new UnsuitableServer(couldNotLock(waiting, holder, end));
      if (attempt === 1) onWait(`The start waits for a lock, ${lockAttempts} times: ${waiting} for ${holder}.`);
      await wait(lockPauseMillis);
    }
  }
}

const madeBeforeRelease =
  'The database was made before version 1.0.0, which has other tables: start with an empty one, then load the data of this one ' +
  "into it (pg_dump --data-only --disable-triggers --exclude-table='(petstore_migrations|installation|api_key_state|event*)').";

function couldNotMigrate(reason: string): string {
  return (
    `A migration failed: ${reason}. Nothing has been changed. A schema must be empty, or as migrations have left it: ` +
    'a backup is restored into an empty one.'
  );
}

function couldNotLock(waiting: string, holder: string, end: string): string {
  return `A table is locked: ${waiting} has waited for ${holder}. End it${end}, and start again; nothing has been changed.`;
}

/** The transaction that has been holding a lock on one of the tables for the longest time, exclusive ones first. */
async function findLockHolder(orm: MikroORM): Promise<{ readonly holder: string; readonly end: string }> {
  const [row] = await orm.em.getConnection().execute<{ holder: string; end: string }[]>(`
    select format('process %s of the database server (%s, in a transaction since %s)', pid,
      coalesce(nullif(application_name, ''), usename), to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')) as holder,
      format(' by select pg_terminate_backend(%s)', pid) as "end"
    from pg_stat_activity join (
      select pid, bool_or(mode = 'AccessExclusiveLock') as is_exclusive from pg_locks join pg_class on pg_class.oid = relation
      where granted and relkind in ('r', 'p') and relnamespace = quote_ident(current_schema())::regnamespace group by pid
    ) as locks using (pid)
    where pid <> pg_backend_pid() and datname = current_database() and xact_start is not null
    order by is_exclusive desc, xact_start limit 1`);
  return row ?? { holder: 'another transaction (pg_stat_activity shows it)', end: '' };
}

async function migrateOnce({ orm, fill }: MigrationRun, em: SqlEntityManager): Promise<AppliedMigration[]> {
  const startedAt = new Map<string, number>();
  const seconds = new Map<string, number>();
  const { migrator } = orm;
  migrator.on('migrating', ({ name }) => {
    startedAt.set(name, performance.now());
  });
  migrator.on('migrated', ({ name }) => {
    seconds.set(name, (performance.now() - (startedAt.get(name) ?? 0)) / 1000);
  });
  const transaction = em.getTransactionContext() as Transaction<unknown>;
  const applied = await migrator.up({ transaction });
  if (applied.some(({ name }) => name === migrations[0].name)) await fill?.(em);
  return applied.map(({ name }) => ({ name, seconds: seconds.get(name) ?? 0 }));
}

/**
 * A read of a table that somebody has locked as a whole would wait without an end, and without a word. The start reads
 * all but those of the nouns, one of which a bulk change may lock for long.
 */
async function assertUnlocked({ orm }: MigrationRun, em: SqlEntityManager): Promise<void> {
  const entities: readonly (new () => object)[] = Object.values(nouns).map(({ entity }) => entity);
  const unread = entities.map((entity) => orm.getMetadata().get(entity).tableName);
  await em.execute(`do $$
    declare
      "table" regclass;
    begin
      for "table" in
        select oid from pg_class
        where relkind in ('r', 'p') and not relispartition and relnamespace = quote_ident(current_schema())::regnamespace
          and relname <> all ('{${unread.join(',')}}') and has_table_privilege(oid, 'select')
      loop
        execute format('lock table %s in access share mode', "table");
      end loop;
    end $$`);
}

/** A connection of its own holds the lock: with it on the migrator's, a pool of one would wait for itself. */
async function whileLocked(
  location: string,
  onWait: MigrationRun['onWait'],
  work: (schema: string | undefined) => Promise<void>,
): Promise<void> {
  const connection = await openSuitable(location, onWait);
  try {
    await connection.query(`begin; ${withoutTimeouts}`);
    const { rows } = await connection.query<{ isLocked: boolean; schema: string | null }>(
      'select pg_try_advisory_xact_lock($1) as "isLocked", current_schema() as schema',
      [lockNumber],
    );
    if (rows[0]?.isLocked !== true) {
      onWait('Another process is migrating the database: this one waits until it has finished.');
      await connection.query('select pg_advisory_xact_lock($1)', [lockNumber]);
    }
    await work(rows[0]?.schema ?? undefined);
    await connection.query('commit');
  } finally {
    await connection.close();
  }
}

import { setTimeout as wait } from 'node:timers/promises';

import type { MikroORM } from '@mikro-orm/postgresql';
import type { Transaction } from 'kysely';

import { migrations } from '../../../migrations/index.ts';
import { RemoteClock } from '../../platform/remote-clock.ts';
import type { Stores } from '../../domain/stores.ts';
import {
  createTransactionSession,
  type DatabaseLocation,
  openMaintenance,
  openMaintenanceWhenWritable,
} from '../../platform/postgres/index.ts';
import { createMaintenanceOrm } from '../database.ts';
import { leaseOf } from '../session.ts';
import { createStores } from '../stores/stores.ts';
import { eventRights } from './event-rights.ts';
import { assertSuitable, UnsuitableServer } from './server-requirements.ts';

/** An arbitrary number that other programs are unlikely to lock. */
const lockNumber = 7_338_474_783;

/**
 * The lock timeout of a migration: while it waits for a table, later statements wait behind it, also those of
 * the version that is still running. After the timeout it is retried.
 */
const lockTimeout = '1s';
/** A role's own timeouts, which are meant for requests, would end a long migration, or the wait for that of another. */
const withoutTimeouts =
  'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';
const lockAttempts = 10;
const lockPauseMillis = 1_000;
const lockNotAvailable = '55P03';

/** PostgreSQL's codes for what the schema or its rows don't allow, without those of missing rights. */
const schemaErrors = /^(?:23|42(?!501))/;

export interface MigrateOptions {
  readonly location: DatabaseLocation;
  /** Fills a database that has just got its first tables, in the same transaction. */
  readonly fill?: ((stores: Stores) => Promise<void>) | undefined;
  /** Receives a sentence for people when it has to wait for another process or transaction. */
  readonly onWait?: ((reason: string) => void) | undefined;
}

/**
 * Brings the tables up to date, all or nothing; processes that start at the same time do it once.
 *
 * Because what fills it comes with the very first tables, a process that is killed meanwhile leaves nothing behind, and
 * a demo store that was emptied stays empty. Throws UnsuitableServer and ConnectionFailure.
 */
export async function migrate({ location, fill, onWait = () => undefined }: MigrateOptions): Promise<void> {
  const orm = createMaintenanceOrm(location);
  try {
    // The embedded database has a single process, and its connections would share the lock.
    if (typeof location === 'string') await whileLocked(location, onWait, () => migrateUp(orm, fill, onWait));
    else await migrateUp(orm, fill, onWait);
  } finally {
    await orm.close(true);
  }
}

async function migrateUp(orm: MikroORM, fill: MigrateOptions['fill'], onWait: OnWait): Promise<void> {
  await applyPending(orm, fill, onWait);
  await orm.em.getConnection().execute(eventRights);
}

async function applyPending(orm: MikroORM, fill: MigrateOptions['fill'], onWait: OnWait): Promise<void> {
  // Before the transaction, because it makes the migrator's own table on a connection of its own.
  if ((await orm.migrator.getPending()).length === 0) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(orm, fill);
    } catch (error) {
      const { code, message } = error as { readonly code?: unknown; readonly message: string };
      if (schemaErrors.test(String(code))) throw new UnsuitableServer(couldNotMigrate(message), { cause: error });
      if (code !== lockNotAvailable) throw error;
      const holder = await findLockHolder(orm);
      if (attempt === lockAttempts) throw new UnsuitableServer(couldNotLock(holder));
      if (attempt === 1)
        onWait(`A migration waits for a lock on its tables, ${lockAttempts} times: ${holder} holds one.`);
      await wait(lockPauseMillis);
    }
  }
}

type OnWait = (reason: string) => void;

/** The transaction that has been holding a lock on one of the tables for the longest time. */
async function findLockHolder(orm: MikroORM): Promise<string> {
  const [row] = await orm.em.getConnection().execute<{ holder: string }[]>(`
    select format('process %s of the database server (%s, in a transaction since %s)', pid,
      coalesce(nullif(application_name, ''), usename), to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')) as holder
    from pg_stat_activity
    where pid <> pg_backend_pid() and xact_start is not null and pid in (
      select pid from pg_locks join pg_class on pg_class.oid = relation
      where granted and relkind = 'r' and relnamespace = current_schema()::regnamespace)
    order by xact_start limit 1`);
  return row?.holder ?? 'another transaction (pg_stat_activity shows it)';
}

function couldNotMigrate(reason: string): string {
  return (
    `A migration failed: ${reason}. Nothing has been changed. A schema must be empty, or as migrations have left it: ` +
    'a backup is restored into an empty one.'
  );
}

function couldNotLock(holder: string): string {
  return (
    `A migration could not lock its tables: ${holder} holds a lock. ` +
    'End it, and migrate again; nothing has been changed.'
  );
}

async function migrateOnce(orm: MikroORM, fill: MigrateOptions['fill']): Promise<void> {
  await orm.em.fork().transactional(async (em) => {
    await em.execute(`${withoutTimeouts}; set local lock_timeout = '${lockTimeout}'`);
    const transaction = em.getTransactionContext() as Transaction<unknown>;
    const applied = await orm.migrator.up({ transaction });
    if (applied.some(({ name }) => name === migrations[0].name)) {
      await fill?.(
        createStores(orm.getMetadata(), new RemoteClock())(createTransactionSession(await leaseOf(transaction))),
      );
    }
  });
}

/** A connection of its own holds the lock: with it on the migrator's, a pool of one would wait for itself. */
async function whileLocked(url: string, onWait: OnWait, work: () => Promise<void>): Promise<void> {
  const connection = await openMaintenanceWhenWritable(url, onWait);
  try {
    await assertSuitable(connection, () => openMaintenance(url));
    await connection.query(`begin; ${withoutTimeouts}`);
    const { rows } = await connection.query<{ isLocked: boolean }>(
      'select pg_try_advisory_xact_lock($1) as "isLocked"',
      [lockNumber],
    );
    if (rows[0]?.isLocked !== true) {
      onWait('Another process is migrating the database: this one waits until it has finished.');
      await connection.query('select pg_advisory_xact_lock($1)', [lockNumber]);
    }
    await work();
    await connection.query('commit');
  } finally {
    await connection.close();
  }
}

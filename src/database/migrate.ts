import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';

import { migrations } from '../../migrations/index.ts';
import type { Stores } from '../domain/stores.ts';
import { createOrm, type DatabaseLocation } from './database.ts';
import { createTransactionSession, transactionOf } from './session.ts';
import { createStores } from './stores/stores.ts';

const oldestVersion = 150_000;

/** An arbitrary number that nobody else is likely to lock. */
const lockNumber = 7_338_474_783;

export interface MigrateOptions {
  readonly location: DatabaseLocation;
  /** Fills a database that has just got its first tables, in the same transaction. */
  readonly fill?: ((stores: Stores) => Promise<void>) | undefined;
}

/**
 * Brings the tables up to date, all or nothing; processes that start at the same time do it once.
 *
 * Because what fills it comes with the very first tables, a process that is killed meanwhile leaves nothing behind, and a demo
 * store that somebody has emptied stays empty.
 */
export async function migrate({ location, fill }: MigrateOptions): Promise<void> {
  const orm = createOrm({ location, poolSize: 1, isPatient: true });
  try {
    // The embedded database has a single process, and its connections would share the lock.
    if (typeof location === 'string') await whileLocked(location, () => migrateUp(orm, fill));
    else await migrateUp(orm, fill);
  } finally {
    await orm.close(true);
  }
}

async function migrateUp(orm: MikroORM, fill: MigrateOptions['fill']): Promise<void> {
  // Before the transaction, because it makes the migrator's own table on a connection of its own.
  if ((await orm.migrator.getPending()).length === 0) return;
  await orm.em.fork().transactional(async (em) => {
    const transaction = transactionOf(em);
    const applied = await orm.migrator.up({ transaction });
    if (applied.some(({ name }) => name === migrations[0].name)) {
      await fill?.(createStores(orm.getMetadata(), createTransactionSession(transaction)));
    }
  });
}

/** A connection of its own holds the lock: with it on the migrator's, a pool of one would wait for itself. */
async function whileLocked(url: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await assertSuitable(client);
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber]);
    await work();
    await client.query('commit');
  } finally {
    await client.end();
  }
}

async function assertSuitable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (Number(server?.version) < oldestVersion) {
    throw new Error(`The database server has version ${server?.version}: PostgreSQL 15 or newer is needed.`);
  }
  if (server?.encoding !== 'UTF8') {
    throw new Error(`The database has the encoding ${server?.encoding}: create one with the encoding UTF8.`);
  }
}

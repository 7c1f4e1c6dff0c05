import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { ClientBase } from 'pg';

import { migrations } from '../../migrations/index.ts';
import { ApiKey } from '../domain/access/api-key.entity.ts';
import type { KeyRecords } from '../domain/access/key-records.ts';
import { Category } from '../domain/categories/category.entity.ts';
import { unavailable } from '../domain/errors.ts';
import { IdempotencyRecord } from '../domain/idempotency/idempotency-record.entity.ts';
import { InventoryItem } from '../domain/inventory/inventory-item.entity.ts';
import { Order } from '../domain/orders/order.entity.ts';
import { Pet } from '../domain/pets/pet.entity.ts';
import type { UsageTable } from '../domain/quota/usage.ts';
import type { Stores } from '../domain/stores.ts';
import { createUsageTable } from './usage-table.ts';
import { translateDriverError } from './driver-errors.ts';
import type { PostgresAddress } from './embedded/socket-directory.ts';
import { PipelinedConnections } from './pipelined-connections.ts';
import type { Parameter } from './prepared-statement.ts';
import { createSession } from './session.ts';
import type { StatementRunner } from './statement-runner.ts';
import { storeClient } from './store-client.ts';
import { createKeyRecords } from './stores/key-records.ts';
import { createStores } from './stores/stores.ts';

/** Together they keep the promise that a lost database is told within 5 seconds. */
const connectionTimeoutMillis = 2_000;
const answerTimeoutMillis = 2_500;
/** A little sooner the server ends a statement by itself: it wouldn't notice that nobody waits for it any more, and go on. */
const statementTimeoutMillis = 2_300;
/** A guest waits longer, for whatever the service is doing, but not for one that is paused. */
const guestAnswerTimeoutMillis = 15_000;

const migrationsTable = 'petstore_migrations';

/** The URL of a PostgreSQL server, or where the embedded one listens. */
export type DatabaseLocation = string | PostgresAddress;

export interface DatabaseOptions {
  readonly location: DatabaseLocation;
  /** The most connections at a time; the embedded database has one, whatever is given. */
  readonly poolSize: number;
  /** The embedded engine runs in another process, whose session must stay as it is: there is one for all connections. */
  readonly isGuest?: boolean | undefined;
  /** Told every statement that is sent. */
  readonly onStatement?: ((sql: string) => void) | undefined;
}

/** The store's database. It connects when it is first needed, and again whenever it has to. */
export interface Database {
  readonly stores: Stores;
  /** What requests are judged by. */
  readonly keyRecords: KeyRecords;
  readonly usage: UsageTable;
  /** Throws UNAVAILABLE when the database can't be reached, or lacks a migration. */
  readonly checkReady: () => Promise<void>;
  /** The connections that there are, those of them that nobody uses, and how many wait for one. */
  readonly poolFigures: () => { readonly total: number; readonly idle: number; readonly waiting: number };
  close(): Promise<void>;
}

export async function connectDatabase(options: DatabaseOptions): Promise<Database> {
  const { isGuest = false } = options;
  const orm = createOrm({ ...options, isPatient: false });
  const pool = await orm.em.getConnection().getNativeClient();
  const pipeline = pipelineFor(options);
  const run: StatementRunner = async (name, text, values) => {
    try {
      if (name !== undefined && pipeline !== undefined)
        return (await pipeline.query(name, text, values as readonly Parameter[])) as never[];
      return (await pool.query({ ...(isGuest ? {} : { name }), text, values: [...values] })).rows as never[];
    } catch (error) {
      throw translateDriverError(error);
    }
  };
  const metadata = orm.getMetadata();
  return {
    stores: createStores(metadata, createSession({ orm, pool, pipeline, isGuest })),
    keyRecords: createKeyRecords(metadata, run),
    usage: createUsageTable(run),
    checkReady: async () => {
      const applied = await run<{ name: string }>('petstore_ready', `select name from ${migrationsTable}`, []);
      const names = new Set(applied.map(({ name }) => name));
      const missing = migrations.filter(({ name }) => !names.has(name));
      if (missing.length > 0) throw unavailable(new Error(`${missing.length} migrations are missing.`));
    },
    poolFigures: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await pipeline?.close();
      await orm.close(true);
    },
  };
}

/** A part of the connections for prepared reads, unless there are too few: the embedded database has one, and transactions need it. */
function pipelineFor({ location, poolSize, onStatement }: DatabaseOptions): PipelinedConnections | undefined {
  const connections = pipelinedOf(poolSize);
  if (typeof location !== 'string' || connections === 0) return undefined;
  return new PipelinedConnections({
    url: location,
    connections,
    answerTimeoutMillis,
    statementTimeoutMillis,
    connectionTimeoutMillis,
    onStatement,
  });
}

/** So many of the pool's connections; four keep the server's processors busy. */
function pipelinedOf(poolSize: number): number {
  return Math.min(4, Math.floor(poolSize / 2));
}

/** The ORM as the service has it, or a patient one for migrations, which may take their time. */
export function createOrm(options: DatabaseOptions & { readonly isPatient: boolean }): MikroORM {
  const { location, poolSize, isGuest = false, onStatement, isPatient } = options;
  const isEmbedded = typeof location !== 'string';
  return new MikroORM({
    ...(isEmbedded ? { ...location, dbName: location.database } : { clientUrl: location }),
    entities: [ApiKey, Category, IdempotencyRecord, InventoryItem, Order, Pet],
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations.map(({ name, migration }) => ({ name, class: migration })),
      tableName: migrationsTable,
      snapshot: false,
    },
    preferReadReplicas: false,
    logger: () => undefined,
    driverOptions: {
      max: isEmbedded ? 1 : poolSize - (isPatient ? 0 : pipelinedOf(poolSize)),
      idleTimeoutMillis: isEmbedded ? 0 : 30_000,
      connectionTimeoutMillis,
      keepAlive: true,
      application_name: 'petstore-gateway',
      // The embedded engine never stalls by itself, and a long statement there is only a long statement.
      Client: storeClient({
        answerTimeoutMillis: isGuest
          ? guestAnswerTimeoutMillis
          : isEmbedded || isPatient
            ? undefined
            : answerTimeoutMillis,
        onStatement,
      }),
      onConnect: async (client: ClientBase) => {
        // The embedded database has one session for all connections: the last one's named statements are still there.
        if (isEmbedded && !isGuest) await client.query('discard all');
        const timeout = isEmbedded || isPatient ? '' : `; set statement_timeout = ${statementTimeoutMillis}`;
        await client.query(`set time zone 'UTC'${timeout}`);
      },
    },
  });
}

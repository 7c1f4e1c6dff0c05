import { Migrator } from '@mikro-orm/migrations';
import { type Configuration, MikroORM, PostgreSqlDriver } from '@mikro-orm/postgresql';

import { migrations } from '../../migrations/index.ts';
import { type DatabaseLocation, databaseAt } from '../settings/database-url.ts';
import { type Caller, Callers } from '../platform/callers/index.ts';
import {
  type ConnectionPool,
  type ConnectionsOptions,
  createConnections,
  createMaintenancePool,
  createSessions,
  type DatabaseOptions,
  type PgConnections,
  type ReplicasConfig,
  type ServerChange,
  type Transact,
} from '../platform/postgres/index.ts';
import { RemoteClock, type SharedClock } from '../platform/remote-clock.ts';
import { domainFailureOf, referencesIn } from './domain-failure.ts';
import { createWithEntities } from './entity-manager.ts';
import { createDialect, leaseOf } from './kysely-dialect.ts';
import { migrationsTable, Readiness } from './readiness.ts';
import { readClock } from './stores/clock.ts';
import { createEventMoves } from './stores/event.store.ts';
import { createKeyChanges, createKeyRecords } from './stores/key-records.ts';
import { type CallerStores, createStores, entities } from './stores/stores.ts';
import { createWebhookLeases } from './stores/webhook-leases.ts';
import { createUsageTable, readInstallation } from './stores/usage-table.ts';

export type Database = Awaited<ReturnType<typeof connectDatabase>>;

export interface ConnectOptions extends Omit<ConnectionsOptions, keyof DatabaseOptions | 'replicas'> {
  readonly location: DatabaseLocation;
  /** The embedded engine runs in another process. */
  readonly isGuest?: boolean | undefined;
  /** The standbys that may serve reads of nouns and of the log. */
  readonly replicas?: Omit<ReplicasConfig, 'table'> | undefined;
  /** How many rows a page of a list may look at. */
  readonly maxWalked?: number | undefined;
}

/** The store's database. It connects on first use, and reconnects as needed. */
export async function connectDatabase({ location, maxWalked, ...options }: ConnectOptions) {
  const { session } = databaseAt(location);
  const connections = connectTo(location, options);
  const { pool, pipeline, servers, replicas } = connections;
  const orm = createOrm(pool, undefined);
  const readiness = new Readiness(connections);
  const metadata = orm.getMetadata();
  const references = referencesIn(metadata);
  const clock = new RemoteClock();
  const withEntities = createWithEntities(orm);
  const storesIn = createStores(metadata, withEntities, clock, maxWalked);
  const sessionOf = createSessions({
    ...connections,
    transact: transactBy(orm),
    // The embedded database serves one at a time.
    atomicMillis: session === 'server' ? 2_000 : 500,
    failureOf: (error) => domainFailureOf(error, references),
    onFailure: (error) => readiness.record(error),
  });
  // Without replicas one session is for everything.
  const stores: CallerStores = { for: (caller) => storesIn(sessionOf(caller, true), replicas && sessionOf(caller)) };
  return {
    stores,
    eventMoves: (caller: Caller) => createEventMoves(sessionOf(caller), clock),
    keyRecords: (caller: Caller) => createKeyRecords(metadata, sessionOf(caller)),
    keyChanges: (caller: Caller) => createKeyChanges(metadata, sessionOf(caller)),
    webhookLeases: (caller: Caller) => createWebhookLeases(sessionOf(caller)),
    usage: (caller: Caller) => createUsageTable(sessionOf(caller), withEntities),
    /** Throws UNAVAILABLE when the database can't be reached; so does `readClock`. */
    readInstallation: (caller: Caller) => readInstallation(sessionOf(caller), withEntities),
    /** The database's, as last read: by `readClock`, and by the moves of events. */
    clock: clock as SharedClock,
    readClock: (caller: Caller) => readClock(sessionOf(caller), clock),
    /** Never rejects. */
    checkReady: (caller: Caller) => readiness.check(caller, sessionOf(caller)),
    serverFigures: () => (session === 'server' ? servers.figures : []),
    /** Of each of the replicas; none where there are none. */
    replicaFigures: () => replicas?.figures ?? [],
    /** Calls the listener when another server than before takes the writes. */
    onServerChange: (listener: (change: ServerChange) => void) => servers.onChange(listener),
    poolFigures: () => pool.figures,
    close: async () => {
      await replicas?.close();
      await Promise.all([pipeline?.close(), pool.end()]);
      await orm.close(true);
    },
  };
}

function connectTo(
  location: DatabaseLocation,
  { isGuest = false, replicas, ...options }: Omit<ConnectOptions, 'location' | 'maxWalked'>,
): PgConnections {
  const { config, session } = databaseAt(location);
  return createConnections({
    ...options,
    config,
    session: isGuest ? 'guest' : session,
    replicas: replicas && { ...replicas, table: 'installation' },
  });
}

/** Without an entity manager, which costs a tenth of a small transaction: most stores need its connection only. */
function transactBy(orm: MikroORM): Transact {
  return (caller, work) =>
    orm.em.getConnection().transactional(async (transaction) => {
      const lease = await leaseOf(transaction);
      await lease.connect(caller);
      caller.recordWrite();
      return work(lease);
    });
}

/** The ORM for migrations, on one such connection. */
export function createMaintenanceOrm(
  location: DatabaseLocation,
  schema?: string,
  onStatement?: (sql: string) => void,
): MikroORM {
  const pool = createMaintenancePool(databaseAt(location), onStatement);
  return createOrm(pool, new Callers().service('maintenance'), schema);
}

/** MikroORM 7.2 ends a schema's name at a dot. It doesn't write the default's, which is `public` otherwise. */
function driverFor(schema: string): typeof PostgreSqlDriver {
  const getDefaultSchemaName = (): string => schema;
  return class extends PostgreSqlDriver {
    constructor(config: Configuration) {
      super(config);
      this.platform.getDefaultSchemaName = getDefaultSchemaName;
    }
  };
}

/** The ORM on the connections of a pool, which it closes with itself: those of one caller, or see `createDialect`. */
function createOrm(pool: ConnectionPool, caller: Caller | undefined, schema?: string): MikroORM {
  return new MikroORM({
    // MikroORM 7.2's migrator creates the database unless the server lists this name. A pooler may rename ours; every
    // server lists this one.
    dbName: 'template1',
    entities: [...entities],
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations.map(({ name, migration }) => ({ name, class: migration })),
      tableName: migrationsTable,
      snapshot: false,
    },
    // With accessors on the prototype of an entity a row takes 3 µs to make instead of 0.1.
    propagationOnPrototype: false,
    preferReadReplicas: false,
    ensureDatabase: false,
    ...(schema !== undefined && { driver: driverFor(schema) }),
    logger: () => undefined,
    // MikroORM's own pool would be `pg-pool`, made from five parts of the URL.
    driverOptions: () => createDialect(pool, caller),
  });
}

import { randomUUID } from 'node:crypto';

import type { PgConnection } from '../../platform/postgres/index.ts';

const oldestVersion = 150_000;

/** An unsuitable server. The message says what has to be changed. */
export class UnsuitableServer extends Error {
  override readonly name = 'UnsuitableServer';
}

/** Asks a pooler before it, too, by a second connection if needed. Throws UnsuitableServer. */
export async function assertSuitable(
  connection: PgConnection,
  openAnother: () => Promise<PgConnection>,
): Promise<void> {
  await assertPostgreSQL(connection);
  const { rows } = await connection.query<{ version: string; encoding: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (Number(server?.version) < oldestVersion) {
    throw new UnsuitableServer(`The database server has version ${server?.version}: PostgreSQL 15 or newer is needed.`);
  }
  if (server?.encoding !== 'UTF8') {
    throw new UnsuitableServer(`The database has the encoding ${server?.encoding}: create one with the encoding UTF8.`);
  }
  if (!connection.session.isBehindPooler || (await keepsPreparedStatements(connection))) return;
  if (await sharesSessions(connection, openAnother)) {
    throw new UnsuitableServer(
      'The pooler between the service and the database shares sessions among transactions and does not know prepared statements. ' +
        'Set pool_mode = session for this database in PgBouncer, or upgrade PgBouncer to 1.21 or newer and set ' +
        'max_prepared_statements = 200.',
    );
  }
}

/** Servers that speak PostgreSQL's protocol and lack its triggers, locks or partitions, as `version()` names them. */
const otherEngine =
  /CockroachDB|Yugabyte|-YB-|Redshift|Greenplum|Materialize|RisingWave|CrateDB|QuestDB|Spanner|DSQL|openGauss|GaussDB/i;

async function assertPostgreSQL(connection: PgConnection): Promise<void> {
  const { rows } = await connection.query<{ name: string }>('select version() as name');
  const name = rows[0]?.name ?? '';
  if (/^(?:PostgreSQL|EnterpriseDB) \d/.test(name) && !otherEngine.test(name)) return;
  throw new UnsuitableServer(
    `The database server is no PostgreSQL, but says that it is ${name.slice(0, 100)}: PostgreSQL 15 or newer is needed, ` +
      'because the tables use statement triggers with transition tables, advisory locks and partitions.',
  );
}

/** A pooler that supports prepared statements renames them on its server connections. */
async function keepsPreparedStatements(connection: PgConnection): Promise<boolean> {
  const name = `petstore_${randomUUID()}`;
  const { rows } = await connection.query<{ name: string }>({ name, text: 'select name from pg_prepared_statements' });
  return !rows.some((row) => row.name === name);
}

const attempts = 5;

/** Whether another client gets the session that this one has just used. */
async function sharesSessions(connection: PgConnection, openAnother: () => Promise<PgConnection>): Promise<boolean> {
  const another = await openAnother();
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const mine = await sessionOf(connection);
      await another.query('begin');
      const other = await sessionOf(another);
      await another.query('commit');
      if (mine === other) return true;
    }
    return false;
  } finally {
    await another.close();
  }
}

async function sessionOf(connection: PgConnection): Promise<number | undefined> {
  const { rows } = await connection.query<{ id: number }>('select pg_backend_pid() as id');
  return rows[0]?.id;
}

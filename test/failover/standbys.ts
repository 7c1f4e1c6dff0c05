import type { PostgresCluster } from '../support/postgres-cluster.ts';
import type { Service } from '../support/service.ts';

/** As DATABASE_URL and DATABASE_REPLICAS name them. */
export function named(...servers: readonly PostgresCluster[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
}

/** Of a server's log, in SQL. */
export const replayed = 'pg_last_wal_replay_lsn()';
export const flushed = 'pg_current_wal_flush_lsn()';

export async function bytes(server: PostgresCluster, position: string): Promise<bigint> {
  const [row] = await server.sql(`select ${position} - '0/0'::pg_lsn as bytes`);
  return BigInt(row!['bytes'] as string);
}

export async function set(server: PostgresCluster, change: string): Promise<void> {
  await server.sql(`alter system ${change}`);
  await server.sql('select pg_reload_conf()');
}

/** Of all processes: reads by server and reason. */
export async function readsBy(services: readonly Service[], server: string, reason = '[a-z_]+'): Promise<number> {
  const pages = await Promise.all(services.map((service) => service.metrics()));
  const pattern = new RegExp(`^petstore_reads_total\\{server="${server}",reason="${reason}"\\} (\\d+)`, 'gm');
  const counts = [...pages.join('\n').matchAll(pattern)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

import { atEnd } from './at-end.ts';
import { PostgresCluster } from './postgres-cluster.ts';

/** A PostgreSQL server of the test's own, or of its file's, which is removed with it. */
export async function startCluster(prepare?: (dataDirectory: string) => void): Promise<PostgresCluster> {
  const cluster = await PostgresCluster.create(prepare);
  atEnd(() => cluster.remove());
  return cluster;
}

import { join } from 'node:path';

import { atEnd } from './at-end.ts';
import { PostgresCluster } from './postgres-cluster.ts';
import { databasesDirectory } from './temporary-directory.ts';

/** A PostgreSQL server of the test's own, or of its file's, which is removed with it. */
export async function startCluster(prepare?: (dataDirectory: string) => void): Promise<PostgresCluster> {
  const cluster = await PostgresCluster.create(prepare, join(databasesDirectory(), 'initialized-cluster'));
  atEnd(() => cluster.remove());
  return cluster;
}

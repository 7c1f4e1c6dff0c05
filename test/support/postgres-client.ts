import pg from 'pg';

import { readConfig } from '../../src/settings/config.ts';
import type { DatabaseLocation } from '../../src/settings/database-url.ts';
import { embeddedPostgresAddress } from '../../src/platform/embedded/embedded-postgres.ts';

/** The database that these settings lead to. */
export function locationOf(environment: Readonly<Record<string, string>>): DatabaseLocation {
  const { databaseUrl, dataDir } = readConfig(environment);
  return databaseUrl ?? embeddedPostgresAddress(dataDir);
}

/** A client of the test's own, past the service. Its server may end before it does. */
export async function connect(location: string | pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(location);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

export async function withClient<Result>(
  location: string | pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(location);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs SQL past the service: one statement, or several without values, whose rows come together. */
export function runSql(location: string | pg.ClientConfig, text: string, values: readonly unknown[] = []) {
  return withClient<Record<string, unknown>[]>(location, async (client) =>
    [await client.query({ text, values: [...values] })].flat().flatMap(({ rows }) => rows),
  );
}

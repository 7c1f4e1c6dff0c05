import pg from 'pg';

import { startEmbeddedPostgres } from '../../../src/platform/embedded/embedded-postgres.ts';

// Serves the directory given and writes rows, one after the other, and says each one that was acknowledged, until it is
// killed.
const postgres = await startEmbeddedPostgres(process.argv[2] ?? '');
const client = new pg.Client(postgres.connection);
await client.connect();
await client.query('CREATE TABLE IF NOT EXISTS written (id int PRIMARY KEY, filler text)');
const { rows } = await client.query<{ next: number }>('SELECT coalesce(max(id), 0) + 1 AS next FROM written');
for (let id = rows[0]?.next ?? 1; ; id += 1) {
  await client.query('INSERT INTO written VALUES ($1, $2)', [id, 'x'.repeat(500)]);
  process.stdout.write(`${id}\n`);
}

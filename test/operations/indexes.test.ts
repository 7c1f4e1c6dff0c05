import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { connect } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { RunningCommand } from '../support/running-command.ts';
import { migrateDatabase } from '../support/template-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { takeBlock } from './command-blocks.ts';

const cluster = await startCluster();

test('an index is built by the documented command while others write', async () => {
  await migrateDatabase(cluster.url, '');
  const settings = { connectionString: cluster.url, statement_timeout: 5_000 };
  const [writer, other] = [await connect(settings), await connect(settings)];
  const insert = `insert into categories (name) values ('Dogs')`;
  await writer.query(`begin; ${insert}`);

  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'owner'), `DATABASE_URL=${cluster.url}\n`);
  const command = takeBlock(
    'Large tables 1',
    ['/etc/petstore', directory],
    ['NAME', 'categories_description'],
    ['TABLE', 'categories'],
    ['COLUMNS', 'description'],
  );
  const building = new RunningCommand(command, {});
  const waiting = `select from pg_stat_activity where query like 'create index%' and wait_event_type = 'Lock'`;
  await until(async () => (await other.query(waiting)).rowCount !== 0);
  await other.query(insert);
  await writer.query('commit');
  expect(await building.ended()).toBe(0);

  const { rows } = await other.query(
    `select indisvalid from pg_index where indexrelid = 'categories_description'::regclass`,
  );
  expect(rows).toEqual([{ indisvalid: true }]);
});

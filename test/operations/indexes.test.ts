import { expect, test } from '@jest/globals';

import { connect } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { RunningCommand } from '../support/running-command.ts';
import { migrateDatabase } from '../support/template-database.ts';
import { until } from '../support/until.ts';
import { guideCommands } from './guide.ts';

const cluster = await startCluster();

test('an index is built by the documented command while others write', async () => {
  await migrateDatabase(cluster.url, '');
  const settings = { connectionString: cluster.url, statement_timeout: 5_000 };
  const [writer, other] = [await connect(settings), await connect(settings)];
  const insert = `insert into categories (name) values ('Dogs')`;
  await writer.query(`begin; ${insert}`);

  const [command] = guideCommands('Large tables');
  const names = { NAME: 'categories_description', TABLE: 'categories', COLUMNS: 'description' };
  const filled = command!.replaceAll(/\b(?:NAME|TABLE|COLUMNS)\b/g, (name) => names[name as keyof typeof names]);
  const building = new RunningCommand(filled, { DATABASE_URL: cluster.url });
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

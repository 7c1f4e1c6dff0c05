import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { expect, test } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { runSql } from '../support/postgres-client.ts';
import { programPath } from '../support/postgres-cluster.ts';
import { startCluster } from '../support/started-cluster.ts';
import { path } from '../support/running-command.ts';
import { adminKey } from '../support/service.ts';
import { listenHere } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { takeCommands } from './command-blocks.ts';

const backup = mkdtempSync(join(tmpdir(), 'petstore-backup-'));

/** As the user that PostgreSQL runs as, who must own the backup. */
const asOwner: readonly string[] = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];

const cluster = await startCluster();
chmodSync(backup, 0o755);
mkdirSync(join(backup, 'wal'));
if (asOwner.length > 0) execFileSync('chown', ['-R', 'postgres', backup]);
atEnd(() => rmSync(backup, { recursive: true, force: true }));

/** Runs commands of the guide in one shell, with the folders and the moment of this test. */
function run(commands: readonly string[], moment = ''): void {
  const script = commands
    .join('\n')
    .replaceAll('/backup/base-2026-11-23-020000', newestBase())
    .replaceAll('/backup', backup)
    .replaceAll('/var/lib/postgresql/15/main', cluster.dataDirectory)
    .replaceAll('/var/lib/postgresql/15/before', join(dirname(cluster.dataDirectory), 'before'))
    .replaceAll(/^(psql|pg_basebackup) /gm, `$1 --dbname=${cluster.url} `)
    .replace(/(?<=recovery_target_time = ')[^']*/, moment);
  const programs = `${dirname(programPath('pg_basebackup'))}:${path}`;
  const [file, ...rest] = [...asOwner, 'bash', '-euc', script];
  execFileSync(file, rest, { cwd: backup, env: { PATH: programs, HOME: backup }, stdio: 'pipe' });
}

function newestBase(): string {
  const [newest = ''] = readdirSync(backup)
    .filter((name) => name.startsWith('base-'))
    .toSorted()
    .toReversed();
  return join(backup, newest);
}

let service: Awaited<ReturnType<typeof listenHere>>;

/** Goes back to the moment before the last creation; returns the status of a reader at each of two positions. */
async function goBack(kept: string, lost: string): Promise<number[]> {
  const [, , base] = takeCommands('Backup and restore 3');
  run([base!]);
  const count = async (): Promise<number> => (await runSql(cluster.url, 'select from events')).length;
  const create = async (name: string): Promise<string> => {
    const events = await count();
    await service.graphql(`mutation { createCategory(input: { name: "${name}" }) { category { id } } }`);
    await until(async () => (await count()) > events);
    return (await service.graphql('{ eventCursor }')).body.data.eventCursor;
  };
  const before = await create(kept);
  const [row] = await runSql(cluster.url, 'select clock_timestamp()::text as moment');
  const after = await create(lost);
  await service.close();
  const [switched] = await runSql(cluster.url, 'select pg_walfile_name(pg_switch_wal()) as name');
  await until(async () => {
    const [archiver] = await runSql(cluster.url, 'select last_archived_wal as name from pg_stat_archiver');
    return String(archiver?.['name']) >= String(switched?.['name']);
  });

  cluster.stop();
  run(takeCommands('Backup and restore 4'), String(row?.['moment']));
  cluster.start();
  service = await listenHere({ DATABASE_URL: cluster.url });
  const read = async (position: string): Promise<number> =>
    (await service.get(`/events?cursor=${position}`, { authorization: `Bearer ${adminKey}` })).status;
  return [await read(before), await read(after)];
}

test('a server goes back to a point in time, twice, and its readers of events are told what is gone', async () => {
  const [mode, archive] = takeCommands('Backup and restore 3');
  run([mode!, archive!]);
  cluster.stop();
  cluster.start();
  service = await listenHere({ DATABASE_URL: cluster.url });
  expect(await goBack('First', 'Lost')).toEqual([200, 410]);
  expect(await goBack('Second', 'Lost, too')).toEqual([200, 410]);
  const names = await runSql(cluster.url, 'select name from categories order by id');
  expect(names.map(({ name }) => name)).toEqual(['First', 'Second']);
});

import '../process/node-version.ts';
import '../settings/foreign-variables.ts';

import { openDatabase } from '../database/start/open.ts';
import { type LockMode, type PendingMigration, readPendingMigrations } from '../database/start/pending-migrations.ts';
import { databaseOptions, onDatabase, parseCommandLine, readSettings, run } from './run.ts';

const usage = `usage: npm run migrate [-- --dry-run]

Brings the tables of the database up to date.

  --dry-run   changes nothing and waits for nobody: prints the migrations that would be carried out, and the locks that
              they would take on tables which exist`;

const upToDate = 'The tables are up to date.';

async function migrateNow(): Promise<void> {
  let state = upToDate;
  const database = await openDatabase({
    ...databaseOptions(readSettings()),
    onMigrated: ({ name, seconds }) => console.log(`Migrated ${name} in ${seconds.toFixed(2)} s.`),
    onNewer: (names) => (state = newerThanThis(names)),
  });
  await database.close();
  console.log(state);
}

function newerThanThis(names: readonly string[]): string {
  return `The tables are newer than this version, which doesn't have ${names.join(', ')}.`;
}

function showPending(): Promise<void> {
  return onDatabase(readSettings(), async (location) => {
    const { pending, newer } = await readPendingMigrations(location);
    const state = newer.length > 0 ? newerThanThis(newer) : upToDate;
    console.log(pending.length === 0 ? `${state} No migration would be carried out.` : describe(pending));
  });
}

function describe(pending: readonly PendingMigration[]): string {
  return [
    'Would be carried out in one transaction, which keeps every lock until its end:',
    ...pending.flatMap(({ name, locks }) => [
      name,
      ...locks.map(({ table, mode }) => `  ${mode} on ${table}: ${effects[mode]}`),
      ...(locks.length === 0 ? ['  no lock on a table that exists'] : []),
    ]),
    'Nothing has been changed.',
  ].join('\n');
}

/** The requests of the service that wait for the end of the transaction. */
const effects: Readonly<Record<LockMode, string>> = {
  'ACCESS SHARE': 'nobody waits',
  'ROW SHARE': 'nobody waits',
  'ROW EXCLUSIVE': 'nobody waits',
  'SHARE UPDATE EXCLUSIVE': 'nobody waits',
  SHARE: 'writes wait',
  'SHARE ROW EXCLUSIVE': 'writes wait',
  EXCLUSIVE: 'writes wait',
  'ACCESS EXCLUSIVE': 'reads and writes wait',
};

const { 'dry-run': isDryRun = false } = parseCommandLine(usage, { 'dry-run': 'boolean' });
await run(isDryRun ? showPending : migrateNow);

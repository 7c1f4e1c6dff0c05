import '../node-version.ts';
import '../foreign-variables.ts';

import { openDatabase } from '../database/start/open.ts';
import { databaseOptions, parseCommandLine, readSettings, run } from './run.ts';

parseCommandLine('usage: npm run migrate\n\nBrings the tables of the database up to date. It takes no options.', []);

/** Runs the migrations, as every start does, for deployments with a separate migration step. */
await run(async () => {
  const database = await openDatabase({
    ...databaseOptions(readSettings()),
    onMigrated: ({ name, seconds }) => console.log(`Migrated ${name} in ${seconds.toFixed(2)} s.`),
  });
  await database.close();
  console.log('The tables are up to date.');
});

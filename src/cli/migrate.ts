import '../node-version.ts';

import { readConfig } from '../config.ts';
import { openDatabase } from '../database/open.ts';
import { parseCommandLine, run } from './run.ts';

parseCommandLine('usage: npm run migrate\n\nBrings the tables of the database up to date. It takes no options.', []);

/** Runs the migrations, as every start does, for deployments with a separate migration step. */
await run(async () => {
  const config = readConfig();
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    poolSize: 1,
    withDemoStore: config.withDemoStore,
    onWait: (reason) => console.error(reason),
  });
  await database.close();
  console.log('The tables are up to date.');
});

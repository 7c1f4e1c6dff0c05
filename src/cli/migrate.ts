import '../node-version.ts';

import { readConfig } from '../config.ts';
import { openDatabase } from '../database/open.ts';
import { run } from './run.ts';

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

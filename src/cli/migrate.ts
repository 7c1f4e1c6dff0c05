import '../node-version.ts';

import { readConfig } from '../config.ts';
import { openDatabase } from '../database/open.ts';
import { run } from './run.ts';

/** Brings the tables up to date, as every start does, for deployments that want it as a step of its own. */
await run(async () => {
  const config = readConfig();
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    poolSize: 1,
    withDemoStore: config.withDemoStore,
  });
  await database.close();
  console.log('The tables are up to date.');
});

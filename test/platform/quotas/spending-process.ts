import { setTimeout as wait } from 'node:timers/promises';

import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/start/open.ts';
import { startAccessProcess } from '../../support/access-process.ts';

// Spends request after request of the key 1, and says when how many were spent, until it is killed.
const { databaseUrl, dataDir } = readConfig();
const database = await openDatabase({ url: databaseUrl, dataDir, poolSize: 2, withDemoStore: false });
const access = await startAccessProcess(database, { onSaveFailure: (error) => console.error(error) });
const limits = { requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };
for (;;) {
  const { day } = await access.quota.consume({ id: '1', limits, bans: undefined, isAnonymous: false }, 1);
  process.stdout.write(`${JSON.stringify({ at: Date.now(), spent: day.limit - day.remaining })}\n`);
  await wait(5);
}

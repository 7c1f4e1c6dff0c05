import { setTimeout as wait } from 'node:timers/promises';

import { readConfig } from '../../src/config.ts';
import { openAccess } from '../../src/database/access.ts';
import { openDatabase } from '../../src/database/open.ts';

// Spends request after request of the key 1, and says when how many were spent, until it is killed.
const { databaseUrl, dataDir } = readConfig();
const database = await openDatabase({ url: databaseUrl, dataDir, poolSize: 2, withDemoStore: false });
const access = await openAccess({
  database,
  redisUrl: undefined,
  adminKey: undefined,
  banRules: { banAfter: 0, banForSeconds: 1 },
  events: { onSharingChange: () => undefined, onBan: () => undefined, onWriteFailure: (error) => console.error(error) },
});
const limits = { requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };
for (;;) {
  const { day } = await access.quota.consume({ id: '1', limits, bans: undefined, isAnonymous: false }, 1);
  process.stdout.write(`${JSON.stringify({ at: Date.now(), spent: day.limit - day.remaining })}\n`);
  await wait(5);
}

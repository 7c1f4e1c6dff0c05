import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { operator, serviceItself } from '../../src/domain/access/principal.ts';
import { connectDatabase, type Database } from '../../src/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded/index.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import { generateKey } from '../../src/domain/access/api-key.ts';
import { KeyDirectory } from '../../src/keys/key-directory.ts';
import { parseId } from '../../src/domain/id.ts';
import { startAccessProcess } from '../support/access-process.ts';
import { until } from '../support/until.ts';
import { DataDirectories } from '../platform/embedded/data-directories.ts';
import { testCaller } from '../support/caller.ts';

// Engines are started several times.

const directories = new DataDirectories();
let dataDir: string;
let engine: EmbeddedPostgres;
let database: Database;

/** Serves again, until the pause after the last failed connection is over. */
async function serveAgain(): Promise<void> {
  engine = await startEmbeddedPostgres(dataDir);
  const reads = (): Promise<boolean> =>
    database.stores
      .for(testCaller)
      .apiKeys.byIds([parseId('1')!])
      .then(
        () => true,
        () => false,
      );
  await until(reads);
}

beforeEach(async () => {
  dataDir = await directories.created();
  engine = await startEmbeddedPostgres(dataDir);
  database = await connectDatabase({ location: engine.connection, poolSize: 1, isGuest: true });
});

afterEach(async () => {
  await database.close();
  await engine.close();
});

it('without the database known keys stay good, and of the others nothing is said until it is back', async () => {
  let now = 1_800_000_000_000;
  const access = new AccessService(database.stores.for(testCaller), serviceItself, { now: () => now });
  const { secret } = await access.create({ name: 'Known', plan: 'free' });
  const directory = new KeyDirectory(database.keyRecords(testCaller), { now: () => now });
  const [asked, neverAsked] = [generateKey(), generateKey()];
  expect(await directory.find(secret)).toMatchObject({ name: 'Known' });
  expect(await directory.find(asked)).toBeUndefined();

  await engine.close();
  for (const wait of [1_000, 60_000, 3_600_000]) {
    now += wait;
    expect(await directory.find(secret)).toMatchObject({ name: 'Known' });
    await expect(directory.find(asked)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(directory.find(neverAsked)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await directory.find('malformed')).toBeUndefined();
    await directory.catchUp();
  }

  await serveAgain();
  now += 1_000;
  expect(await directory.find(neverAsked)).toBeUndefined();
  expect(await directory.find(secret)).toMatchObject({ name: 'Known' });
});

it('a ban that begins without the database is written down when it is back', async () => {
  let now = Date.now();
  const failures: unknown[] = [];
  const service = new AccessService(database.stores.for(testCaller), operator);
  const key = { name: 'Impatient', plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 10 } as const;
  const { apiKey, secret } = await service.create(key);
  const access = await startAccessProcess(database, {
    rules: { banAfter: 1, banForSeconds: 900 },
    onSaveFailure: (error) => failures.push(error),
    now: () => now,
  });
  const principal = (await access.keys.find(secret))!;

  await engine.close();
  const outcomes: string[] = [];
  for (const wait of [0, 0, 2_001, 0, 0]) {
    now += wait;
    outcomes.push((await access.quota.consume(principal, 1)).outcome);
  }
  expect(outcomes).toEqual(['admitted', 'refused', 'refused', 'banned', 'banned']);

  await serveAgain();
  expect(failures[0]).toMatchObject({ code: 'UNAVAILABLE' });
  await access.close();
  const [written] = await database.stores.for(testCaller).apiKeys.byIds([apiKey.id]);
  expect(written?.bannedUntil).toEqual(new Date(now + 900_000));
});

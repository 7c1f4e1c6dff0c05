import { beforeEach, describe, expect, it } from '@jest/globals';

import { serviceItself } from '../../src/domain/access/principal.ts';
import type { KeyRecords } from '../../src/domain/access/key-records.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import { generateKey, hashKey } from '../../src/domain/access/api-key.ts';
import { KeyDirectory } from '../../src/keys/key-directory.ts';
import { newApiKey } from '../../src/domain/access/new-api-key.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { testCaller } from '../support/caller.ts';

const adminKey = 'an-administrator-key-of-40-characters-xx';

let directory: KeyDirectory;
let now = 1_800_000_000_000;

const opened = await openTestDatabase();
const access = new AccessService(opened.stores, serviceItself, { now: () => now });

beforeEach(() => {
  directory = new KeyDirectory(opened.database.keyRecords(testCaller), { adminKey, now: () => now });
});

/** What the work has sent to the database. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  opened.statements.length = 0;
  await work();
  return opened.statements.length;
}

function find(secrets: readonly string[]) {
  return Promise.all(secrets.map(async (secret) => directory.find(secret)));
}

describe('looking a key up', () => {
  it('costs one statement, and none for the requests after it', async () => {
    const { apiKey, secret } = await access.create({ name: 'Shop', plan: 'pro' });
    expect(await statementsOf(async () => directory.find(secret))).toBe(1);
    now += 399;
    expect(await statementsOf(() => find(Array<string>(1_000).fill(secret)))).toBe(0);
    expect(await directory.find(secret)).toEqual({
      id: apiKey.id,
      name: 'Shop',
      plan: 'pro',
      scopes: ['read', 'write'],
      expiresAt: null,
      limits: { requestsPerMinute: 300, requestsPerDay: 10_000 },
      bans: { epoch: 0, bannedUntil: 0, automaticBans: [] },
      isAnonymous: false,
    });
  });

  it('costs nothing when the key is malformed', async () => {
    const { secret } = await access.create({ name: 'Mistyped', plan: 'free' });
    const lastChanged = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0');
    const swapped = secret.slice(0, 10) + secret.charAt(11) + secret.charAt(10) + secret.slice(12);
    const malformed = ['', 'x', lastChanged, `${secret}0`, secret.toUpperCase(), ` ${secret}`, 'ä'.repeat(58)];
    const wrong = secret.charAt(10) === secret.charAt(11) ? malformed : [...malformed, swapped];
    expect(await statementsOf(async () => expect(new Set(await find(wrong))).toEqual(new Set([undefined])))).toBe(0);
  });

  it('costs a flood of wrong keys two statements at most, one after the other, and none when they come again', async () => {
    const wrong = Array.from({ length: 2_000 }, generateKey);
    expect(await statementsOf(() => find(wrong))).toBeLessThanOrEqual(2);
    expect(await statementsOf(() => find(wrong))).toBe(0);
  });

  it('finds the administrator without the database', async () => {
    const statements = await statementsOf(async () => {
      expect(await directory.find(adminKey)).toMatchObject({ id: 'admin', plan: 'business', scopes: ['admin'] });
      expect(await directory.find(adminKey.replace('an', 'no'))).toBeUndefined();
    });
    expect(statements).toBe(0);
  });
});

describe('a change of a key', () => {
  it('holds a second later for every later request, however long there was none before', async () => {
    const { apiKey, secret } = await access.create({ name: 'Revoked', plan: 'free' });
    expect(await directory.find(secret)).toBeDefined();
    await access.revoke(apiKey.id);
    now += 1_000;
    expect(await find(Array<string>(20).fill(secret))).toEqual(Array(20).fill(undefined));
  });

  it('holds a second later while requests never stop', async () => {
    const { apiKey, secret } = await access.create({ name: 'Busy', plan: 'free' });
    await directory.find(secret);
    await access.setPlan(apiKey.id, { plan: 'business' });
    const plans: (string | undefined)[] = [];
    for (const end = now + 1_000; now < end; now += 50) plans.push((await directory.find(secret))?.plan);
    expect(plans[0]).toBe('free');
    expect((await directory.find(secret))?.plan).toBe('business');
  });

  it('holds once the directory has caught up, even if older news was still on its way', async () => {
    const { apiKey, secret } = await access.create({ name: 'Watched', plan: 'free' });
    const read = Promise.withResolvers<void>();
    const delivered = Promise.withResolvers<void>();
    let reads = 0;
    const records: KeyRecords = {
      ...opened.database.keyRecords(testCaller),
      read: async (...asked) => {
        const news = await opened.database.keyRecords(testCaller).read(...asked);
        reads += 1;
        read.resolve();
        await delivered.promise;
        return news;
      },
    };
    directory = new KeyDirectory(records, { now: Date.now });
    const finding = directory.find(secret);
    await read.promise;
    await access.setPlan(apiKey.id, { plan: 'pro' });
    const caughtUp = directory.catchUp();
    delivered.resolve();
    expect((await finding)?.plan).toBe('free');
    await caughtUp;
    expect((await directory.find(secret))?.plan).toBe('pro');
    expect(reads).toBe(2);
  });

  it('reaches a key that was unknown until it was made', async () => {
    const secret = generateKey();
    expect(await directory.find(secret)).toBeUndefined();
    const { row } = newApiKey({ name: 'Late', plan: 'free' }, now);
    await opened.stores.apiKeys.insert({ ...row, sha256: hashKey(secret) });
    now += 1_000;
    // The round of another request reads the change.
    await directory.find(generateKey());
    expect(await directory.find(secret)).toMatchObject({ name: 'Late' });
  });

  it('that is made by SQL to many keys at once holds after two statements, and reads no more keys than are known', async () => {
    const [{ secret }, { secret: kept }] = await Promise.all([
      access.create({ name: 'One of many', plan: 'free' }),
      access.create({ name: 'Kept', plan: 'free' }),
    ]);
    await find([secret, kept]);
    await opened.sql(
      `insert into api_keys (name, prefix, sha256, plan, scopes)
       select 'One of many', 'petstore_many', encode(sha256(n::text::bytea), 'hex'), 'free', '{read}' from generate_series(1, 1100) as n`,
    );
    await opened.sql(`update api_keys set revoked_at = now() where name = 'One of many'`);
    now += 1_000;
    expect(await statementsOf(async () => expect(await directory.find(secret)).toBeUndefined())).toBe(2);
    expect(await directory.find(kept)).toMatchObject({ name: 'Kept' });
    const unknown = generateKey();
    expect(await directory.find(unknown)).toBeUndefined();
    // A later change is reported as one again.
    await opened.sql(`update api_keys set plan = 'pro' where name = 'Kept'`);
    now += 1_000;
    expect(await statementsOf(async () => expect(await directory.find(kept)).toMatchObject({ plan: 'pro' }))).toBe(1);
  });

  it.each([
    ['deletes the key', (id: string) => `delete from api_keys where id = ${id}`],
    ['deletes all keys', () => 'truncate api_keys cascade'],
  ])('by SQL that %s holds a second later', async (_, statement) => {
    const { apiKey, secret } = await access.create({ name: 'Deleted', plan: 'free' });
    expect(await directory.find(secret)).toBeDefined();
    await opened.sql(statement(apiKey.id));
    now += 1_000;
    expect(await directory.find(secret)).toBeUndefined();
  });

  it('counts only once it is committed', async () => {
    const { secret } = await access.create({ name: 'Rolled back', plan: 'free' });
    await directory.find(secret);
    await opened.sql(`begin; update api_keys set plan = 'pro'; rollback`);
    now += 1_000;
    expect(await directory.find(secret)).toMatchObject({ plan: 'free' });
    await opened.sql(`update api_keys set plan = 'pro' where name = 'Rolled back'`);
    now += 1_000;
    expect(await directory.find(secret)).toMatchObject({ plan: 'pro' });
  });

  it('ends the key at the instant of its expiry', async () => {
    const expiresAt = new Date(now + 60_000).toISOString();
    const { secret } = await access.create({ name: 'Short', plan: 'free', expiresAt });
    now += 59_999;
    expect(await directory.find(secret)).toBeDefined();
    now += 1;
    expect(await directory.find(secret)).toBeUndefined();
  });
});

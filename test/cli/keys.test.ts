import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { RequestService } from '../../src/domain/requests/request.service.ts';
import { operator } from '../../src/domain/access/principal.ts';
import { commands } from '../../src/cli/keys/commands.ts';
import { readConfig } from '../../src/settings/config.ts';
import { openDatabase, type OpenDatabase } from '../../src/database/start/open.ts';
import { planNames } from '../../src/domain/access/plan.ts';
import { AccessService } from '../../src/domain/access/access.service.ts';
import { KeyDirectory } from '../../src/keys/key-directory.ts';
import { locationOf, runSql } from '../support/postgres-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { CommandRun } from './run-command.ts';
import { keysIn, keysProcess } from './run-keys.ts';
import { testCaller } from '../support/caller.ts';

const keyAlone = /^petstore_[0-9A-Za-z]{49}\n$/;

async function open(): Promise<OpenDatabase> {
  const { databaseUrl: url, dataDir } = readConfig(environment);
  return openDatabase({ url, dataDir, poolSize: 1, withDemoStore: false });
}

/** What the next service knows of a key. */
async function knownTo(opening: Promise<OpenDatabase>, secret: string) {
  const database = await opening;
  const known = await new KeyDirectory(database.keyRecords(testCaller), { now: Date.now }).find(secret);
  await database.close();
  return known;
}

function keys(...args: readonly string[]): Promise<CommandRun> {
  return keysIn(environment, ...args);
}

const environment = await createTestDatabase();

describe('keys, beside a running service', () => {
  let database: OpenDatabase;
  let now = Date.now();
  let directory: KeyDirectory;

  beforeAll(async () => {
    database = await open();
    directory = new KeyDirectory(database.keyRecords(testCaller), { now: () => now });
  });

  afterAll(() => database.close());

  /** A second after what has just been done, as late as it may begin to hold. */
  async function aSecondLater(secret: string) {
    now = Math.max(now, Date.now()) + 1_000;
    return directory.find(secret);
  }

  it('creates a key that is known at once, and prints nothing but the key', async () => {
    const { exitCode, stdout, stderr } = await keysProcess(environment, 'create', '--name', 'Shop', '--plan', 'pro');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(keyAlone) });
    expect(stderr).toContain('Shop');
    expect(stderr).not.toContain(stdout.trim());
    const limits = { requestsPerMinute: 300, requestsPerDay: 10_000 };
    const known = { name: 'Shop', plan: 'pro', scopes: ['read', 'write'], limits };
    expect(await directory.find(stdout.trim())).toMatchObject(known);
  });

  it('changes what holds for a key within a second: plan, ban, its end, and the revocation', async () => {
    const { stdout } = await keys('create', '--name', 'Changing', '--plan', 'free', '--scopes', 'admin', '--json');
    const { id, secret } = JSON.parse(stdout) as { id: string; secret: string };
    expect(await directory.find(secret)).toMatchObject({ id, plan: 'free', scopes: ['admin'] });

    await keys('set-plan', id, '--plan', 'enterprise', '--per-minute', '7', '--per-day', '70');
    const limits = { requestsPerMinute: 7, requestsPerDay: 70 };
    expect(await aSecondLater(secret)).toMatchObject({ plan: 'enterprise', limits });

    const bannedFrom = Date.now();
    await keys('ban', id, '--for', '15m');
    const banned = await aSecondLater(secret);
    const { bannedUntil = 0, epoch } = banned?.bans ?? {};
    expect(Math.round((bannedUntil - bannedFrom) / 60_000)).toBe(15);
    expect(epoch).toBe(1);

    await keys('unban', id);
    expect(await aSecondLater(secret)).toMatchObject({ bans: { epoch: 2, bannedUntil: 0 } });

    await keys('revoke', id);
    expect(await aSecondLater(secret)).toBeUndefined();
  });

  it('lets a key expire when it was said to', async () => {
    const { stdout } = await keys('create', '--name', 'Short', '--plan', 'free', '--expires-in', '90d');
    expect(await directory.find(stdout.trim())).toMatchObject({ name: 'Short' });
    now = Math.max(now, Date.now()) + 90 * 86_400_000;
    expect(await directory.find(stdout.trim())).toBeUndefined();
  });

  it('counts what lasts a while from when the database is open, however long that takes', async () => {
    const { stdout } = await keys('create', '--name', 'Brief', '--plan', 'free', '--json');
    const { id } = JSON.parse(stdout) as { id: string };
    const openAt = Date.now() + 60_000;
    const stores = database.stores.for(testCaller);
    const access = new AccessService(stores, operator, { now: () => openAt });
    const services = { access, requests: new RequestService(stores) };
    const { json } = (await commands['update']?.prepare({ 'expires-in': '1s' }, id)(services, openAt)) ?? {};
    expect(json).toMatchObject({ expiresAt: new Date(openAt + 1000) });
  });

  it('leaves the statements of the service as they are', async () => {
    const page = { sort: { field: 'ID', direction: 'asc' }, after: undefined, before: undefined } as const;
    const slice = () =>
      database.stores.for(testCaller).apiKeys.page({ at: 0 }, { ...page, takeLast: false, limit: 100 });
    const before = await slice();
    for (let run = 0; run < 2; run += 1) {
      const [listed, beside] = await Promise.all([keys('list', '--json'), slice()]);
      expect(JSON.parse(listed.stdout)).toHaveLength(before.rows.length);
      expect([beside, await slice()]).toEqual([before, before]);
    }
  });

  it('shows every key with its state, never with its secret', async () => {
    const { stdout } = await keys('create', '--name', 'Listed', '--plan', 'business');
    const list = await keys('list');
    expect(list.stdout).toMatch(/^ *ID +NAME +PLAN +PER MINUTE +PER DAY +SCOPES +PREFIX +STATE$/m);
    expect(list.stdout).toMatch(/^ *\d+ +Listed +business +1,000 +100,000 +read,write +petstore_\w{4} +active$/m);
    expect(list.stdout).not.toContain(stdout.trim());
    const all = JSON.parse((await keys('list', '--json')).stdout) as object[];
    expect(all.at(-1)).toMatchObject({ name: 'Listed', requestsPerDay: 100_000, revokedAt: null });
    expect(JSON.stringify(all)).not.toContain(stdout.trim());
  });

  it('shows a name as it is written: what would change the order of the columns, or the terminal, is escaped', async () => {
    const { stdout } = await keys('create', '--name', 'Older', '--plan', 'free', '--json');
    const { id } = JSON.parse(stdout) as { id: string };
    const location = locationOf(environment);
    await runSql(location, `update api_keys set name = $1 where id = $2`, ['a\u202eb', id]);
    await runSql(location, `update api_key_history set changes = replace(changes::text, 'Older', $1)::jsonb`, [
      'a\u202eb',
    ]);
    for (const { stdout: shown } of [await keys('list'), await keys('show', id), await keys('history', id)]) {
      expect(shown).toContain('a\\u{202e}b');
      expect(shown).not.toContain('\u202e');
    }
  });

  it.each([
    ['an unknown option', ['create', '--nmae', 'x'], '--nmae'],
    ['an option that is there twice', ['create', '--name', 'a', '--name=b'], '--name is there several times'],
    ['a missing name', ['create', '--plan', 'pro'], '--name is needed'],
    ['an unknown plan', ['create', '--name', 'x', '--plan', 'gold'], planNames.join(', ')],
    [
      'an unknown scope',
      ['create', '--name', 'x', '--plan', 'pro', '--scopes', 'read,all'],
      'read, write, webhooks, admin',
    ],
    [
      'a name with a control of the direction of text',
      ['create', '--name', 'a\u202eb', '--plan', 'pro'],
      'name must not contain the character U+202E',
    ],
    ['a wrong duration', ['ban', '1', '--for', 'soon'], '90s, 15m, 24h'],
    ['a missing id', ['revoke'], 'the id of a key'],
    ['an unknown command', ['destroy'], 'use create, list, show'],
    ['an enterprise key without figures', ['create', '--name', 'x', '--plan', 'enterprise'], '--per-minute is needed'],
    ['figures for a plan that has its own', ['set-plan', '1', '--plan', 'pro', '--per-day', '5'], '--per-day is 10000'],
  ])('names %s, with exit code 2 and nothing on standard output', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await keys(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('ends with exit code 1 for a key that does not exist', async () => {
    const { exitCode, stderr } = await keys('revoke', '999999');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^Database: .+\nkeys: There is no API key with the id "999999"\.\n$/),
    });
  });

  it('explains itself', async () => {
    for (const args of [['--help'], ['create', '--help']]) {
      const { exitCode, stdout } = await keys(...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('keys create --name NAME') });
    }
  });
});

describe('keys, by itself', () => {
  it('opens the database where no service runs, and leaves the keys for the next one', async () => {
    const { stdout } = await keys('create', '--name', 'Early', '--plan', 'business');
    expect(stdout).toMatch(keyAlone);
    expect(await knownTo(open(), stdout.trim())).toMatchObject({ name: 'Early' });
  });

  it('joins a service that is just starting', async () => {
    const starting = open();
    const { exitCode, stdout } = await keys('create', '--name', 'Impatient', '--plan', 'free');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(keyAlone) });
    expect(await knownTo(starting, stdout.trim())).toMatchObject({ name: 'Impatient' });
  });
});

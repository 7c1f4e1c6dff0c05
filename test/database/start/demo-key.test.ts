import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { operator } from '../../../src/domain/access/principal.ts';
import { openDatabase, type OpenDatabase } from '../../../src/database/start/open.ts';
import { AccessService } from '../../../src/domain/access/access.service.ts';
import { KeyDirectory } from '../../../src/keys/key-directory.ts';
import { copyEmbeddedStore, holdEngineCode } from '../../support/test-database.ts';
import { databaseDirectory } from '../../support/temporary-directory.ts';
import { testCaller } from '../../support/caller.ts';

// Engines and processes are started several times.

function open(dataDir: string): Promise<OpenDatabase> {
  return openDatabase({ url: undefined, dataDir, poolSize: 1, withDemoStore: true });
}

beforeAll(holdEngineCode);

describe('the demo key', () => {
  it('comes with the demo store, both are the same on every start, and it ends when it is revoked', async () => {
    const dataDir = databaseDirectory();
    const first = await open(dataDir);
    const { demoKey = '' } = first;
    const principal = await new KeyDirectory(first.keyRecords(testCaller), { now: Date.now }).find(demoKey);
    expect(principal).toMatchObject({ name: 'Demo', plan: 'business', scopes: ['read', 'write'] });
    expect(statSync(join(dataDir, 'demo-key')).mode & 0o777).toBe(0o600);
    const pets = await first.stores.for(testCaller).pets.count({});
    expect(pets).toBeGreaterThan(0);
    await first.close();

    const second = await open(dataDir);
    expect(second.demoKey).toBe(demoKey);
    expect(await second.stores.for(testCaller).pets.count({})).toBe(pets);
    await new AccessService(second.stores.for(testCaller), operator).revoke(principal!.id);
    await second.close();

    const third = await open(dataDir);
    expect(third.demoKey).toBeUndefined();
    await third.close();
  });

  it('is not there where the first start was without the demo store', async () => {
    const { DATA_DIR: dataDir } = await copyEmbeddedStore();
    const database = await open(dataDir);
    expect(database.demoKey).toBeUndefined();
    expect(await database.stores.for(testCaller).apiKeys.count({ at: 0 })).toBe(0);
    await database.close();
    expect(readdirSync(dataDir)).not.toContain('demo-key');
  });
});

import { describe, expect, it } from '@jest/globals';

import { newApiKey } from '../../src/domain/access/new-api-key.ts';
import type { Id } from '../../src/domain/id.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { openTestDatabase } from '../support/opened-database.ts';

const { stores, sql } = await openTestDatabase();

/** Inserts a key, by the EntityManager. */
function insertKey({ apiKeys }: Stores, name: string): Promise<Id> {
  return apiKeys.insert(newApiKey({ name, plan: 'free' }, Date.now()).row);
}

async function keysNamed(name: string): Promise<number> {
  return (await sql('select from api_keys where name = $1', [name])).length;
}

describe.each(['plain', 'insertion', 'atomic'] as const)('the EntityManager in a transaction that is %s', (kind) => {
  it('sees what the transaction has written, and is committed with it', async () => {
    const name = `committed ${kind}`;
    const seen = await stores.transaction(async (inside) => {
      const id = await insertKey(inside, name);
      await inside.apiKeys.update(id, { name });
      return inside.apiKeys.byIds([id]);
    }, kind);
    expect(seen).toEqual([expect.objectContaining({ name })]);
    expect(await keysNamed(name)).toBe(1);
  });

  it('is rolled back with it', async () => {
    const name = `rolled back ${kind}`;
    const work = stores.transaction(async (inside) => {
      await insertKey(inside, name);
      throw new Error('The work has failed.');
    }, kind);
    await expect(work).rejects.toThrow('The work has failed.');
    expect(await keysNamed(name)).toBe(0);
  });
});

describe('the EntityManager outside of a transaction', () => {
  it('commits what it does', async () => {
    await insertKey(stores, 'alone');
    expect(await keysNamed('alone')).toBe(1);
  });

  it("throws the driver's error, from which the failures are made, instead of MikroORM's copy", async () => {
    const { row } = newApiKey({ name: 'twice', plan: 'free' }, Date.now());
    await stores.apiKeys.insert(row);
    await expect(stores.apiKeys.insert(row)).rejects.toMatchObject({ name: 'error', code: '23505' });
    expect(await keysNamed('twice')).toBe(1);
  });
});

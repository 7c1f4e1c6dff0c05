import { beforeEach, describe, expect, it } from '@jest/globals';

import { IdempotencyService } from '../../src/domain/idempotency/idempotency.service.ts';
import { ForeignKeyViolation } from '../../src/domain/store.ts';
import type { Id } from '../../src/domain/id.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { newCategory } from '../support/new-category.ts';
import { callers } from '../support/caller.ts';

const service = new IdempotencyService();

const opened = await openTestDatabase();
const { id: categoryId } = await opened.stores.categories.insert(newCategory('Birds'));

beforeEach(() => {
  opened.statements.length = 0;
});

const storesFor = (clientId: string) => opened.database.stores.for(callers.for(clientId));
const sent = (beginning: string): number => opened.statements.filter((sql) => sql.startsWith(beginning)).length;
const commits = (): number => sent('commit');

const insertions = (): number => opened.statements.filter((sql) => sql.includes('insert into pets')).length;

async function insert(name: string, quantity: number, into = categoryId, clientId = 'one') {
  const pet = { name, status: 'available', categoryId: into, inventory: { quantity } } as const;
  return storesFor(clientId).pets.insert(pet, ['inventory', 'category']);
}

/** Creates a pet with a key of its own. */
async function create(key: string, into: Id = categoryId, clientId = 'one') {
  const identity = { principalId: clientId, key, fingerprint: key, isInsertion: true };
  const { result, isReplayed } = await service.once(storesFor(clientId), identity, async ({ pets }) => {
    const pet = { name: key, status: 'available', categoryId: into, inventory: { quantity: 0 } } as const;
    const { id, name } = await pets.insert(pet, ['category']);
    return { id, name };
  });
  return { ...result, isReplayed };
}

/** How many pets, inventory entries and records there are more than before. */
async function countFrom(before: readonly number[] = [0, 0, 0]): Promise<number[]> {
  const [row] = await opened.sql(
    `select array[(select count(*)::int from pets) - $1, (select count(*)::int from inventory) - $2,
       (select count(*)::int from idempotency_records) - $3] as counts`,
    before,
  );
  return row!['counts'] as number[];
}

describe('insertions', () => {
  it('rows that come at the same time share statements, and each comes back with its own relations', async () => {
    const numbers = Array.from({ length: 250 }, (_, index) => index);
    const pets = await Promise.all(numbers.map((n) => insert(`"Pet" ${n} \\ é,{}`, n)));
    expect(pets.map(({ name, inventory }) => [name, inventory?.quantity])).toEqual(
      numbers.map((n) => [`"Pet" ${n} \\ é,{}`, n]),
    );
    expect(new Set(pets.map(({ category }) => category?.name))).toEqual(new Set(['Birds']));
    expect(new Set(pets.map(({ id }) => id)).size).toBe(250);
    const stored = await opened.sql(
      `select name, quantity from pets join inventory on pet_id = id where name like '"Pet"%' order by quantity`,
    );
    expect(stored.map(({ name, quantity }) => [name, quantity])).toEqual(
      pets.map(({ name, inventory }) => [name, inventory?.quantity]),
    );
    expect(insertions()).toBe(3);
  });

  it('a row without others at its time is a statement of its own', async () => {
    for (const name of ['first', 'second']) await insert(name, 1);
    expect(insertions()).toBe(2);
    expect(opened.statements.join()).not.toMatch('unnest');
  });

  it('a row that is refused takes no other one with it', async () => {
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'refused', 'c'].map((name) =>
        insert(name, 1, name === 'refused' ? ('999' as Id) : categoryId, name === 'b' ? 'another' : 'one'),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[2]).toMatchObject({ reason: expect.any(ForeignKeyViolation) });
    expect(outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.name] : []))).toEqual(['a', 'b', 'c']);
  });

  it('optional values that are given in some rows only are kept apart', async () => {
    const { orders } = opened.stores;
    const [with3, without] = await Promise.all([
      orders.insert({ complete: false, quantity: 3, shipDate: new Date('2026-01-02T03:04:05.006Z') }),
      orders.insert({ complete: true }),
    ]);
    expect([with3.quantity, with3.complete, with3.shipDate]).toEqual([3, false, new Date('2026-01-02T03:04:05.006Z')]);
    expect([without.quantity, without.complete, without.shipDate]).toEqual([null, true, null]);
  });

  it('rows of all keys are in one statement', async () => {
    await Promise.all(['two', 'three', 'four'].map((client) => insert(client, 1, categoryId, client)));
    expect(insertions()).toBe(1);
  });
});

describe('creations with an Idempotency-Key', () => {
  it('creations of one client at the same time share a transaction, and each has its own row and record', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => `"key" ${n} {,}`);
    const before = await countFrom();
    opened.statements.length = 0;
    const created = await Promise.all(keys.map((key) => create(key)));
    expect(created.map(({ name, isReplayed }) => [name, isReplayed])).toEqual(keys.map((key) => [key, false]));
    expect(new Set(created.map(({ id }) => id)).size).toBe(20);
    expect(commits()).toBe(1);
    expect(sent('insert into idempotency_records')).toBe(1);
    expect(await countFrom(before)).toEqual([20, 20, 20]);
    const again = await Promise.all(keys.map((key) => create(key)));
    expect(again).toEqual(created.map(({ id, name }) => ({ id, name, isReplayed: true })));
    expect(await countFrom(before)).toEqual([20, 20, 20]);
  });

  it('what is replayed and what is new may come at the same time', async () => {
    const earlier = await Promise.all(['first', 'second'].map((key) => create(key)));
    const before = await countFrom();
    opened.statements.length = 0;
    const all = await Promise.all(['third', 'first', 'fourth', 'second'].map((key) => create(key)));
    expect(all.map(({ name, isReplayed }) => [name, isReplayed])).toEqual([
      ['third', false],
      ['first', true],
      ['fourth', false],
      ['second', true],
    ]);
    expect([all[1]?.id, all[3]?.id]).toEqual(earlier.map(({ id }) => id));
    expect(commits()).toBe(1);
    expect(await countFrom(before)).toEqual([2, 2, 2]);
  });

  it('one that is refused takes no other with it, and leaves nothing', async () => {
    const before = await countFrom();
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'refused', 'c'].map((key) => create(key, key === 'refused' ? ('999' as Id) : categoryId)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[2]).toMatchObject({ reason: expect.any(ForeignKeyViolation) });
    expect(await countFrom(before)).toEqual([3, 3, 3]);
    expect((await create('refused')).isReplayed).toBe(false);
  });

  it.each([true, false])('what does more than insert is done by itself, isInsertion: %j', async (isInsertion) => {
    await opened.sql(`update categories set name = 'Birds' where id = $1`, [categoryId]);
    let starts = 0;
    const keys = ['x', 'y'].map((key) => `${key} of ${isInsertion}`);
    const rename = (key: string) =>
      service.once(
        storesFor('one'),
        { principalId: 'one', key, fingerprint: key, isInsertion },
        async ({ categories }) => {
          starts += 1;
          const seen = await categories.lock(categoryId);
          const name = `${seen?.name} ${key}`;
          await categories.update(categoryId, { name });
          return { name };
        },
      );
    const renamed = await Promise.all(keys.map((key) => rename(key)));
    const [{ name }] = (await opened.sql('select name from categories where id = $1', [categoryId])) as [
      { name: string },
    ];
    // One after the other: the second has seen what the first has changed.
    expect(renamed.map(({ result }) => result.name)).toContain(name);
    expect(keys.map((key) => name.split(key).length)).toEqual([2, 2]);
    // What says that it may do more isn't tried with others first.
    if (!isInsertion) expect(starts).toBe(2);
  });

  it('creations of all clients share a transaction, and what they replay does too', async () => {
    const clients = ['five', 'six', 'seven'];
    const createAll = () => Promise.all(clients.map((client) => create(`of ${client}`, categoryId, client)));
    const created = await createAll();
    expect(commits()).toBe(1);
    opened.statements.length = 0;
    expect((await createAll()).map(({ id, isReplayed }) => [id, isReplayed])).toEqual(
      created.map(({ id }) => [id, true]),
    );
    expect(commits()).toBe(1);
  });

  it('records of more than 24 hours are deleted in batches of 1,000, whichever protocol they are of', async () => {
    await opened.sql('truncate idempotency_records');
    const ages = `now() - case when n > 1 then interval '25 hours' else interval '1 hour' end`;
    await opened.sql(`insert into idempotency_records
      select 'one', n::text, '/', '', '{}', ${ages} from generate_series(1, 1300) as n`);
    await opened.sql(`insert into idempotency_records
      select 'one', n::text, 'a', '', '{}', ${ages} from generate_series(1, 1200) as n`);
    await service.deleteExpired(opened.stores);
    const left = await opened.sql('select key, field from idempotency_records order by field');
    expect(left).toEqual([
      { key: '1', field: '/' },
      { key: '1', field: 'a' },
    ]);
    const batches = opened.statements.filter((sql) => /from "idempotency_records".*skip locked/.test(sql));
    expect(batches).toHaveLength(3);
  });
});

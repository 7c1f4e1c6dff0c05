import { beforeEach, expect, it } from '@jest/globals';

import { ForeignKeyViolation } from '../../src/domain/store.ts';
import type { Id } from '../../src/domain/id.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { callers, testCaller } from '../support/caller.ts';

const opened = await openTestDatabase();
const { id: categoryId } = await opened.database.stores.for(testCaller).categories.insert({ name: 'Birds' });

beforeEach(() => {
  opened.statements.length = 0;
});

const insertions = (): number => opened.statements.filter((sql) => sql.includes('insert into pets')).length;

async function insert(name: string, quantity: number, into = categoryId, clientId = 'one') {
  const pet = { name, status: 'available', categoryId: into, inventory: { quantity } } as const;
  return opened.database.stores.for(callers.for(clientId)).pets.insert(pet, ['inventory', 'category']);
}

it('rows that come at the same time share statements, and each comes back with its own relations', async () => {
  const numbers = Array.from({ length: 250 }, (_, index) => index);
  const pets = await Promise.all(numbers.map((n) => insert(`"Pet" ${n} \\ é,{}`, n)));
  expect(pets.map(({ name, inventory }) => [name, inventory?.quantity])).toEqual(
    numbers.map((n) => [`"Pet" ${n} \\ é,{}`, n]),
  );
  expect(new Set(pets.map(({ category }) => category?.name))).toEqual(new Set(['Birds']));
  expect(new Set(pets.map(({ id }) => id)).size).toBe(250);
  const stored = await opened.sql('select name, quantity from pets join inventory on pet_id = id order by quantity');
  expect(stored.map(({ name, quantity }) => [name, quantity])).toEqual(
    pets.map(({ name, inventory }) => [name, inventory?.quantity]),
  );
  expect(insertions()).toBe(3);
});

it.each([[['1,2', '3']], [['-4,5', 'NULL', '{}', '"', '\\', ',', ' ']]])(
  'the names %j stay what they are',
  async (names) => {
    const { categories } = opened.database.stores.for(testCaller);
    const inserted = await Promise.all(names.map((name) => categories.insert({ name })));
    expect(inserted.map(({ name }) => name)).toEqual(names);
  },
);

it('a row without others at its time is a statement of its own', async () => {
  for (const name of ['first', 'second']) await insert(name, 1);
  expect(insertions()).toBe(2);
  expect(opened.statements.join()).not.toMatch('unnest');
});

it('a row that is refused takes no other one with it', async () => {
  const outcomes = await Promise.allSettled(
    ['a', 'b', 'refused', 'c'].map((name) => insert(name, 1, name === 'refused' ? ('999' as Id) : categoryId)),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[2]).toMatchObject({ reason: expect.any(ForeignKeyViolation) });
  expect(outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.name] : []))).toEqual(['a', 'b', 'c']);
});

it('optional values that are given in some rows only are kept apart', async () => {
  const { orders } = opened.database.stores.for(testCaller);
  const [with3, without] = await Promise.all([
    orders.insert({ complete: false, quantity: 3, shipDate: new Date('2026-01-02T03:04:05.006Z') }),
    orders.insert({ complete: true }),
  ]);
  expect([with3.quantity, with3.complete, with3.shipDate]).toEqual([3, false, new Date('2026-01-02T03:04:05.006Z')]);
  expect([without.quantity, without.complete, without.shipDate]).toEqual([null, true, null]);
});

it('rows of two keys are never in one statement', async () => {
  await Promise.all([insert('one', 1, categoryId, 'one'), insert('two', 2, categoryId, 'two')]);
  expect(insertions()).toBe(2);
});

it('a transaction inserts its rows one by one, and alone', async () => {
  await expect(
    opened.database.stores.for(testCaller).transaction(async ({ pets }) => {
      await pets.insert({ name: 'undone', status: 'sold', categoryId, inventory: { quantity: 0 } });
      throw new Error('Rolled back');
    }),
  ).rejects.toThrow('Rolled back');
  expect(await opened.sql(`select from pets where name = 'undone'`)).toEqual([]);
});

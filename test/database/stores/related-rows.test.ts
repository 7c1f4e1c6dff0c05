import { describe, expect, it } from '@jest/globals';

import type { Category } from '../../../src/domain/categories/category.entity.ts';
import type { Id } from '../../../src/domain/id.ts';
import type { Pet } from '../../../src/domain/pets/pet.entity.ts';
import { firstRows } from '../../support/keyset.ts';
import { openTestDatabase } from '../../support/opened-database.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { fillAtRandom } from './random-store.ts';

const opened = await openTestDatabase();
const stored = await fillAtRandom(opened.sql, new SeededRandom(20_261_121));

describe('rows by their ids', () => {
  it('come in the order of the ids, repeated ones again, with undefined for what is not there', async () => {
    const { stores } = opened;
    const [a, b] = [stored.pets[3]!, stored.pets[9]!];
    expect(await stores.pets.byIds([b.id, '77' as Id, a.id, b.id])).toEqual([b, undefined, a, b]);
    expect(await stores.orders.byIds([stored.orders[5]!.id])).toEqual([stored.orders[5]]);
    expect(await stores.inventory.byIds([b.id])).toEqual([stored.inventory[9]]);
    expect(await stores.categories.byIds([])).toEqual([]);
  });
});

describe('related rows', () => {
  const categoryOf = ({ categoryId }: Pet) => stored.categories.find(({ id }) => id === categoryId);
  const itemOf = ({ id }: Pet) => stored.inventory.find(({ petId }) => petId === id);
  const petOf = ({ petId }: { readonly petId?: Id | null | undefined }) => stored.pets.find(({ id }) => id === petId);
  const keyset = firstRows(1_000);

  it('come with the rows of the same statement, in every read, and are undefined when there are none', async () => {
    const { statements, stores } = opened;
    statements.length = 0;
    const { rows } = await stores.pets.page({}, keyset, ['inventory', 'category']);
    expect(rows).toHaveLength(stored.pets.length);
    for (const row of rows) expect(row).toMatchObject({ category: categoryOf(row), inventory: itemOf(row) });

    const some = stored.pets.slice(0, 3);
    const withCategory = some.map((pet) => Object.assign({}, pet, { category: categoryOf(pet) }));
    const ids = some.map(({ id }) => id);
    expect(await stores.pets.byIds(ids, ['category'])).toEqual(withCategory);
    expect(await stores.pets.byIds(ids.slice(0, 1), ['category'])).toEqual(withCategory.slice(0, 1));
    const [slice] = await stores.pets.pagePerParent(
      { property: 'categoryId', ids: [some[0]!.categoryId] },
      {},
      keyset,
      ['inventory'],
    );
    for (const row of slice!.rows) expect(row.inventory).toEqual(itemOf(row));

    const { rows: orderRows } = await stores.orders.page({}, keyset, ['pet']);
    for (const row of orderRows) expect(row.pet).toEqual(petOf(row));
    const { rows: items } = await stores.inventory.page(
      { statusIn: ['sold'] },
      { ...keyset, sort: { field: 'PET_ID', direction: 'asc' } },
      ['pet'],
    );
    for (const row of items) expect(row.pet).toEqual(petOf(row));
    expect(items).not.toHaveLength(0);
    expect(statements).toHaveLength(6);
  });

  it('come with what is written, from its own statement', async () => {
    const { statements, stores } = opened;
    const [category, other] = stored.categories as [Category, Category];
    statements.length = 0;
    const data = { name: 'New', status: 'pending', categoryId: category.id, inventory: { quantity: 3 } } as const;
    const pet = await stores.pets.insert(data, ['category', 'inventory']);
    const { inventory, ...own } = data;
    expect(pet).toMatchObject({
      id: pet.id,
      ...own,
      category,
      inventory: { petId: pet.id, status: 'pending', ...inventory },
    });
    const changes = { categoryId: other.id, status: 'sold' } as const;
    const changed = await stores.pets.update(pet.id, changes, ['inventory', 'category']);
    expect(changed).toMatchObject({
      id: pet.id,
      name: 'New',
      ...changes,
      category: other,
      inventory: { petId: pet.id, quantity: 3, status: 'sold' },
    });
    // Those before the insertion and the change lock, and read nothing.
    expect(statements.map((sql) => /for (?:key share|no key update)$/.exec(sql)?.[0])).toEqual([
      'for key share',
      undefined,
      'for key share',
      'for no key update',
      undefined,
    ]);
    await opened.sql('delete from pets where id = $1', [pet.id]);
  });

  it('are undefined when there are none, although a status of stock is read from the pet; also in a transaction', async () => {
    const { statements, stores, sql } = opened;
    const [category] = stored.categories as [Category];
    const [row] = await sql(`insert into pets (name, category_id) values ('Bare', $1) returning id`, [category.id]);
    const { id } = row as { id: Id };
    const bare = { id, name: 'Bare', status: 'available', categoryId: category.id, inventory: undefined, category };
    statements.length = 0;
    expect(await stores.pets.byIds([id], ['inventory', 'category'])).toMatchObject([bare]);
    expect(statements.join().match(/\.status\b/g)).toHaveLength(1);
    const other = stored.pets[0]!;
    const complete = Object.assign({}, other, { inventory: itemOf(other), category: categoryOf(other) });
    await stores.transaction(async (within) => {
      expect(await within.pets.byIds([id, other.id], ['inventory', 'category'])).toMatchObject([bare, complete]);
    });
    await sql('delete from pets where id = $1', [id]);
  });
});

describe('a read is one statement', () => {
  const keyset = firstRows(3);

  it('however many ids or parents there are', async () => {
    const { statements, stores } = opened;
    for (const count of [3, 300]) {
      const ids = Array.from({ length: count }, (_, n) => String(n) as Id);
      const ofPets = { property: 'petId', ids } as const;
      statements.length = 0;
      await stores.pets.byIds(ids);
      await stores.pets.pagePerParent({ property: 'categoryId', ids }, {}, keyset);
      await stores.orders.pagePerParent(ofPets, {}, { ...keyset, sort: { field: 'SHIP_DATE', direction: 'desc' } });
      await stores.orders.countPerParent(ofPets, { complete: true });
      expect(statements).toHaveLength(4);
    }
  });

  it('or none, when nothing can be found', async () => {
    const { statements, stores } = opened;
    statements.length = 0;
    expect(await stores.pets.page({ statusIn: [] }, keyset)).toEqual({
      rows: [],
      hasMore: false,
    });
    expect(await stores.pets.count({ categoryIdIn: [] })).toBe(0);
    expect(await stores.pets.pagePerParent({ property: 'categoryId', ids: [] }, {}, keyset)).toEqual([]);
    expect(statements).toEqual([]);
  });
});

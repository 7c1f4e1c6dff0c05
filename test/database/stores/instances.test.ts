import { expect, it } from '@jest/globals';

import { Category } from '../../../src/domain/categories/category.entity.ts';
import { InventoryItem } from '../../../src/domain/inventory/inventory-item.entity.ts';
import { Pet } from '../../../src/domain/pets/pet.entity.ts';
import { testCaller } from '../../support/caller.ts';
import { newCategory } from '../../support/new-category.ts';
import { openTestDatabase } from '../../support/opened-database.ts';

it('a row is an instance of its entity: one that was read, written or related, and that of an event', async () => {
  const { database, stores } = await openTestDatabase();
  const category = await stores.categories.insert(newCategory('Birds'));
  const data = { name: 'Kiwi', status: 'available', categoryId: category.id, inventory: { quantity: 1 } } as const;
  const written = await stores.pets.insert(data, ['category', 'inventory']);
  const [read] = await stores.pets.byIds([written.id]);
  const { rows } = await stores.pets.page(
    {},
    { sort: { field: 'ID', direction: 'asc' }, after: undefined, before: undefined, takeLast: false, limit: 1 },
  );
  for (const pet of [written, read, ...rows]) expect(pet).toBeInstanceOf(Pet);
  expect(written.category).toBeInstanceOf(Category);
  expect(written.inventory).toBeInstanceOf(InventoryItem);
  // Every property is the row's own, as for a plain object.
  expect(Object.keys(read ?? {})).toEqual(['id', 'name', 'status', 'categoryId']);

  await database.eventMoves(testCaller).move('test', 100);
  const { events } = await stores.events.readAfter(undefined, 100);
  const subject = events.find(({ type }) => type === 'pet.created')?.subject;
  expect(subject?.row).toBeInstanceOf(Pet);
});

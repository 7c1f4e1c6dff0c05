import { beforeAll, describe, expect, it } from '@jest/globals';

import { operator } from '../../src/domain/access/principal.ts';
import { IdempotencyService } from '../../src/domain/idempotency/idempotency.service.ts';
import type { Id } from '../../src/domain/id.ts';
import type { Order } from '../../src/domain/orders/order.entity.ts';
import { Services } from '../../src/domain/services.ts';
import type { RowData } from '../../src/domain/store.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { newCategory } from '../support/new-category.ts';
import { openTestDatabase, type OpenedDatabase } from '../support/opened-database.ts';

const opened = await openTestDatabase();
const { stores } = opened;

const order: RowData<Order> = { petId: null, quantity: null, shipDate: null, complete: false };

describe('a transaction', () => {
  it('undoes everything when the work fails', async () => {
    let id: Id | undefined;
    const work = stores.transaction(async ({ categories }) => {
      ({ id } = await categories.insert(newCategory('Lost')));
      throw new Error('on purpose');
    });
    await expect(work).rejects.toMatchObject({ message: 'on purpose' });
    expect(id).toMatch(/^\d+$/);
    expect(await stores.categories.byIds([id!])).toEqual([undefined]);
  });

  it('reports a violated foreign key, by the property that names the row, as a statement by itself does, and leaves the connection in order', async () => {
    const insert = ({ orders }: Stores) => orders.insert({ ...order, petId: '4711' as Id });
    const violation = { name: 'ForeignKeyViolation', property: 'petId' };
    await expect(insert(stores)).rejects.toMatchObject(violation);
    await expect(stores.transaction(insert)).rejects.toMatchObject(violation);
    await stores.categories.insert(newCategory('Kept'));
  });

  it('runs twenty at once, whatever the size of the pool', async () => {
    const before = await stores.categories.count({});
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        stores.transaction(({ categories }) => categories.insert(newCategory(`Many ${n}`))),
      ),
    );
    expect(await stores.categories.count({})).toBe(before + 20);
  });

  it('binds values: none becomes part of a statement', async () => {
    const description = `'; drop table orders; -- $1 ? \\ "`;
    opened.statements.length = 0;
    const { id } = await stores.transaction(({ categories }) => categories.insert(newCategory('Bound', description)));
    expect(opened.statements.filter((sql) => sql.includes('drop table'))).toEqual([]);
    expect(await stores.categories.byIds([id])).toEqual([{ id, name: 'Bound', description }]);
  });
});

describe('with a single connection', () => {
  let single: OpenedDatabase;

  beforeAll(async () => {
    single = await openTestDatabase({ poolSize: 1 });
  });

  it('an idempotent handler that reads sees what it has written, and does not wait for itself', async () => {
    const ofSingle = single.stores;
    const request = { principalId: '1', key: 'one', fingerprint: 'a', isInsertion: false };
    const { result } = await new IdempotencyService().once(ofSingle, request, async (inside) => {
      const { categories, pets } = new Services(inside, operator);
      const category = await categories.create({ name: 'Fresh' });
      const pet = await pets.create({ name: 'Rex', categoryId: category.id });
      const { rows } = await pets.list({ filter: { categoryIdIn: [category.id] } });
      const renamed = await categories.update(category.id, { name: 'Renamed' }, { precondition: () => true });
      return { pet, rows, total: await pets.count(null), read: await categories.get(category.id), renamed };
    });
    expect(result.rows).toEqual([result.pet]);
    expect(result.total).toBe(1);
    expect(result.read).toEqual(result.renamed);
    expect(await ofSingle.categories.count({})).toBe(1);
  });
});

describe('a date', () => {
  it.each([
    '0001-01-01T00:00:00.000Z',
    '0099-12-31T23:59:59.999Z',
    '1883-11-18T17:00:00.001Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00.000Z',
    '2026-03-29T01:30:00.123Z',
    '9999-12-31T23:59:59.999Z',
  ])('comes back to the millisecond, inserted, updated and locked: %s', async (text) => {
    const { orders } = stores;
    const shipDate = new Date(text);
    const inserted = await orders.insert({ ...order, shipDate });
    const updated = await orders.update((await orders.insert(order)).id, { shipDate });
    const locked = await stores.transaction((inside) => inside.orders.lock(inserted.id));
    const [read] = await orders.byIds([inserted.id]);
    for (const row of [inserted, updated, locked, read]) expect(row?.shipDate?.toISOString()).toBe(text);
  });
});

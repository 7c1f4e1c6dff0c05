import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Id } from '../../src/domain/id.ts';
import { Category } from '../../src/domain/categories/category.entity.ts';
import { Order } from '../../src/domain/orders/order.entity.ts';
import { openTestDatabase, type OpenedDatabase } from '../support/opened-database.ts';

let opened: OpenedDatabase;
let database: OpenedDatabase['database'];

beforeAll(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
});

afterAll(() => opened.close());

describe('a unit of work', () => {
  it('undoes everything when the work fails', async () => {
    let id: Id | undefined;
    const work = database.unitOfWork(async (em) => {
      id = await em.insert(Category, { name: 'Lost' });
      throw new Error('on purpose');
    });
    await expect(work).rejects.toMatchObject({ message: 'on purpose' });
    expect(id).toMatch(/^\d+$/);
    expect(await database.reads.categories.byIds([id!])).toEqual([undefined]);
  });

  it('leaves a violated constraint to the services, and the connection in order', async () => {
    const work = database.unitOfWork((em) => em.insert(Order, { petId: '4711' as Id, complete: false }));
    await expect(work).rejects.toMatchObject({ name: 'ForeignKeyConstraintViolationException' });
    await database.unitOfWork((em) => em.insert(Category, { name: 'Kept' }));
  });

  it('does fifty at once, whatever the size of the pool', async () => {
    const before = await database.reads.categories.count({});
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => database.unitOfWork((em) => em.insert(Category, { name: `Many ${n}` }))),
    );
    expect(await database.reads.categories.count({})).toBe(before + 50);
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
    const id = await database.unitOfWork((em) => em.insert(Order, { shipDate: new Date(text), complete: false }));
    const [inserted] = await database.reads.orders.byIds([id]);
    expect(inserted?.shipDate?.toISOString()).toBe(text);

    const other = await database.unitOfWork((em) => em.insert(Order, { shipDate: null, complete: false }));
    await database.unitOfWork(async (em) => {
      const order = await em.findOneOrFail(Order, other);
      order.shipDate = new Date(text);
    });
    const [updated] = await database.reads.orders.byIds([other]);
    expect(updated?.shipDate?.toISOString()).toBe(text);
    const seen = await database.unitOfWork(async (em) => (await em.findOneOrFail(Order, id)).shipDate?.toISOString());
    expect(seen).toBe(text);
  });
});

describe('the listener', () => {
  it('is told the statements of reads and of units of work alike', async () => {
    const { statements } = opened;
    statements.length = 0;
    await database.reads.pets.byIds(['1' as Id]);
    expect(statements).toHaveLength(1);
    await database.unitOfWork((em) => em.insert(Category, { name: 'Heard' }));
    expect(statements.map((sql) => sql.split(' ')[0]?.toLowerCase())).toEqual(['select', 'begin', 'insert', 'commit']);
  });
});

it('is ready once it is migrated', async () => {
  await expect(database.checkReady()).resolves.toBeUndefined();
});

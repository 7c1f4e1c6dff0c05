import { describe, expect, it } from '@jest/globals';

import { CategoryService } from '../../../src/domain/categories/category.service.ts';
import { OrderService } from '../../../src/domain/orders/order.service.ts';
import { inBatches, maxBatchSize } from '../../../src/domain/page.ts';
import { openTestDatabase } from '../../support/opened-database.ts';

/** One batch, and a row that may go beyond it. */
const maxBytes = 256 * 1024 + 9_000;
const large = 600;
const small = 1_200;

const opened = await openTestDatabase();
await opened.sql(`insert into categories (name, description)
  select 'Category ' || n, case when n % 2 = 0 then repeat(chr(8364), 2000) end from generate_series(1, ${large * 2}) as n`);
await opened.sql(`insert into orders (ship_date) select case when n % 3 > 0 then timestamptz '2026-01-01' + n * interval '1 hour' end
  from generate_series(1, ${small}) as n`);

const options = { maxSize: maxBatchSize };

describe('the batches of a whole collection', () => {
  it('end by their bytes, however much longer their rows become, and have every row once', async () => {
    const categories = new CategoryService(opened.stores);
    const ids: string[] = [];
    const sizes: number[] = [];
    for await (const batch of inBatches((request) => categories.list(request, options))) {
      ids.push(...batch.map(({ id }) => id));
      sizes.push(Buffer.byteLength(JSON.stringify(batch.map(({ description }) => description))));
    }
    expect(ids).toEqual(Array.from({ length: large * 2 }, (_, index) => String(index + 1)));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(maxBytes);
    expect(Math.max(...sizes)).toBeGreaterThan(maxBytes / 2);
  });

  it('have every row once in an order with rows that have no value, too, with no statement for an empty batch', async () => {
    const orders = new OrderService(opened.stores);
    opened.statements.length = 0;
    const ids = new Set<string>();
    const batches: number[] = [];
    const list = inBatches((request) =>
      orders.list({ ...request, orderBy: { field: 'SHIP_DATE', direction: 'desc' } }, options),
    );
    for await (const batch of list) {
      for (const { id } of batch) ids.add(id);
      batches.push(batch.length);
    }
    expect([ids.size, batches]).toEqual([small, [500, 500, 200]]);
    expect(opened.statements).toHaveLength(batches.length);
  });
});

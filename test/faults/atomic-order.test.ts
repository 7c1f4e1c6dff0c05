import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { startCluster } from '../support/started-cluster.ts';
import { codesOf, Service } from '../support/service.ts';

/*
 * On a server: the embedded database has one session, so transactions never wait for each other's rows.
 */
const cluster = await startCluster();

const seed = Number(process.env['ATOMIC_SEED'] ?? Date.now() % 2 ** 31);
/** `ATOMIC_OPERATIONS=8000` is the long form. */
const operations = Number(process.env['ATOMIC_OPERATIONS'] ?? 160);
const clients = 8;
/** Few, so that nearly all operations meet. */
const rows = 3;

const service = await Service.start({ DATABASE_URL: cluster.url, LOG_LEVEL: 'silent' });
await cluster.sql(
  `insert into categories (id, name) overriding system value select n, '0' from generate_series(1, ${rows}) as n;
   insert into pets (id, name, category_id) overriding system value select n, '0', n from generate_series(1, ${rows}) as n;
   insert into inventory (pet_id, quantity) select id, 0 from pets;
   insert into orders (id, pet_id, quantity, complete) overriding system value select n, n, 1, false from generate_series(1, ${rows}) as n;
   select setval('orders_id_seq', 1000), setval('pets_id_seq', 1000), setval('categories_id_seq', 1000)`,
);

const id = fc.integer({ min: 1, max: rows });
const name = 'name: "New"';
/** Those that change rows by their ids, those that only refer to them, and deletions, which are refused here. */
const field = fc.oneof(
  id.map((n) => `updateCategory(input: { id: ${n}, ${name} }) { category { id } }`),
  id.map((n) => `updatePet(input: { id: ${n}, ${name} }) { pet { name category { name } inventory { quantity } } }`),
  fc.tuple(id, id).map(([n, to]) => `updatePet(input: { id: ${n}, categoryId: ${to} }) { pet { category { name } } }`),
  id.map((n) => `updateInventory(input: { petId: ${n}, quantity: 5 }) { inventoryItem { pet { name } } }`),
  id.map((n) => `updateOrder(input: { id: ${n}, quantity: 5 }) { order { pet { name } } }`),
  fc.tuple(id, id).map(([n, to]) => `updateOrder(input: { id: ${n}, petId: ${to} }) { order { pet { name } } }`),
  id.map((n) => `createPet(input: { ${name}, categoryId: ${n} }) { pet { category { name } } }`),
  id.map((n) => `createOrder(input: { petId: ${n} }) { order { pet { name } } }`),
);
const refused = fc.oneof(
  id.map((n) => `deleteCategory(input: { id: ${n} }) { deletedCategoryId }`),
  id.map((n) => `updateInventory(input: { petId: ${n}, quantity: 5, ifVersion: "other" }) { inventoryItem { petId } }`),
);
const operation = fc.record({
  fields: fc.array(field, { minLength: 2, maxLength: 5 }),
  last: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: refused }),
  isKeyed: fc.boolean(),
});

it(`operations with @atomic that name the same rows in any order wait for each other, and none fails (ATOMIC_SEED=${seed})`, async () => {
  const sent = fc.sample(operation, { seed, numRuns: operations });
  const failed: unknown[] = [];
  const send = async (): Promise<void> => {
    const secret = await service.createKey();
    for (let next = sent.pop(); next !== undefined; next = sent.pop()) {
      const { fields, last, isKeyed } = next;
      const query = `mutation @atomic { ${[...fields, last].map((each, n) => (each === '' ? '' : `f${n}: ${each}`)).join(' ')} }`;
      const key: Record<string, string> = isKeyed ? { 'idempotency-key': `order ${sent.length}` } : {};
      const headers = { authorization: `Bearer ${secret}`, ...key };
      const { status, body } = await service.post('/graphql', { query }, headers);
      const codes = codesOf(body);
      const isRight = last === '' ? codes.length === 0 : /CONFLICT|PRECONDITION/.test(codes.join());
      if (!isRight || status !== 200) failed.push({ query, status, errors: body.errors });
    }
  };
  await Promise.all(Array.from({ length: clients }, send));
  expect(failed).toEqual([]);
});

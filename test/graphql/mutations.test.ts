import { beforeEach, describe, expect, it } from '@jest/globals';

import { emptyStore } from '../support/empty-store.ts';
import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();

beforeEach(async () => {
  await emptyStore(service);
  await service.sql(
    `insert into categories (id, name, description) values (101, 'Dogs', 'Loyal'), (102, 'Cats', null)`,
  );
  await service.sql(
    `insert into pets (id, name, status, category_id) values (101, 'Rex', 'available', 101), (102, 'Mia', 'sold', 102)`,
  );
  await service.sql('insert into inventory (pet_id, quantity) values (101, 5), (102, 0)');
  await service.sql(`insert into orders (id, pet_id, quantity, ship_date, complete) values
    (101, 101, 2, '2026-01-01T00:00:00Z', false), (102, 101, 1, null, true)`);
});

it('a pet is created available, with an empty inventory item, its name without the white space around it', async () => {
  const { data } = await service.graphql(`mutation { createPet(input: { name: "  Bella ", categoryId: 101 }) {
    pet { id name status category { name } inventory { quantity status } orders { totalCount } } } }`);
  const { pet } = data.createPet;
  expect(pet).toEqual({
    id: expect.stringMatching(/^[1-9]\d*$/),
    name: 'Bella',
    status: 'AVAILABLE',
    category: { name: 'Dogs' },
    inventory: { quantity: 0, status: 'AVAILABLE' },
    orders: { totalCount: 0 },
  });
  const found = await service.graphql('query ($id: ID!) { pet(id: $id) { name } }', { id: pet.id });
  expect(found.data.pet).toEqual({ name: 'Bella' });
});

it('an order changes neither the stock nor the status of its pet', async () => {
  const { data } = await service.graphql(`mutation { createOrder(input: { petId: 101, quantity: 2, complete: true }) {
    order { pet { status inventory { quantity } } } } }`);
  expect(data.createOrder.order.pet).toEqual({ status: 'AVAILABLE', inventory: { quantity: 5 } });
});

it('what is deleted is gone, a pet with its inventory item', async () => {
  const deleted = await service.graphql(
    'mutation { deletePet(input: { id: 102 }) { deletedPetId } cancelOrder(input: { id: 101 }) { cancelledOrderId } }',
  );
  expect(deleted.data).toEqual({ deletePet: { deletedPetId: '102' }, cancelOrder: { cancelledOrderId: '101' } });
  const { data } = await service.graphql(
    '{ pet(id: 102) { id } inventoryItem(petId: 102) { id } inventory { totalCount } order(id: 101) { id } }',
  );
  expect(data).toEqual({ pet: null, inventoryItem: null, inventory: { totalCount: 1 }, order: null });
});

describe('several mutations in one document', () => {
  it('run one after another: one that fails leaves the next alone, and its payload is right', async () => {
    const { status, data, errors } = await service.graphql(`mutation {
      bad: createPet(input: { name: "Lost", categoryId: 999 }) { pet { id } }
      good: createPet(input: { name: "Found", categoryId: 101 }) { pet { name category { name pets { totalCount } } } }
      moved: updatePet(input: { id: 101, categoryId: 102 }) { pet { category { name pets { totalCount edges { node { name } } } } } }
    }`);
    expect(status).toBe(200);
    expect(errors).toEqual([
      expect.objectContaining({ path: ['bad'], extensions: expect.objectContaining({ code: 'BAD_USER_INPUT' }) }),
    ]);
    expect(data).toEqual({
      bad: null,
      good: { pet: { name: 'Found', category: { name: 'Dogs', pets: { totalCount: 2 } } } },
      moved: {
        pet: {
          category: {
            name: 'Cats',
            pets: { totalCount: 2, edges: [{ node: { name: 'Rex' } }, { node: { name: 'Mia' } }] },
          },
        },
      },
    });
  });

  it('show each the state after their own', async () => {
    const { data } = await service.graphql(`mutation {
      one: updateCategory(input: { id: 101, name: "One" }) { category { pets { edges { node { category { name } } } } } }
      two: updateCategory(input: { id: 101, name: "Two" }) { category { pets { edges { node { category { name } } } } } }
    }`);
    const named = (name: string): object => ({ category: { pets: { edges: [{ node: { category: { name } } }] } } });
    expect(data).toEqual({ one: named('One'), two: named('Two') });
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();

beforeEach(async () => {
  await service.sql('truncate categories, pets, inventory, orders');
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

// oxlint-disable-next-line typescript/no-explicit-any -- what a payload holds is each test's own to say
async function succeed(name: string, input: Record<string, unknown>, selection: string): Promise<any> {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  const mutation = `mutation ($input: ${type}!) { result: ${name}(input: $input) { ${selection} } }`;
  const { data, errors } = await service.graphql(mutation, { input });
  expect(errors).toEqual([]);
  return data.result;
}

describe('a pet', () => {
  it('is created available, with an empty inventory item, its name without the white space around it', async () => {
    const { pet } = await succeed(
      'createPet',
      { name: '  Bella ', categoryId: '101' },
      'pet { id name status category { name } inventory { quantity status } orders { totalCount } }',
    );
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

  it('goes with its inventory item', async () => {
    expect(await succeed('deletePet', { id: '102' }, 'deletedPetId')).toEqual({ deletedPetId: '102' });
    const { data } = await service.graphql(
      '{ pet(id: 102) { id } inventoryItem(petId: 102) { id } inventory { totalCount } }',
    );
    expect(data).toEqual({ pet: null, inventoryItem: null, inventory: { totalCount: 1 } });
  });
});

describe('an order', () => {
  it('keeps its date in UTC with milliseconds, from the year 0001 to 9999', async () => {
    const input = { petId: '101', quantity: 3, shipDate: '2026-11-21T09:30:00.5+01:00', complete: true };
    const { order } = await succeed('createOrder', input, 'order { id petId quantity shipDate complete }');
    expect(order).toMatchObject({ petId: '101', quantity: 3, shipDate: '2026-11-21T08:30:00.500Z', complete: true });
    for (const shipDate of ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '1883-11-18T12:03:58.001Z']) {
      await succeed('updateOrder', { id: order.id, shipDate }, 'order { id }');
      const { data } = await service.graphql('query ($id: ID!) { order(id: $id) { shipDate } }', { id: order.id });
      expect(data.order).toEqual({ shipDate });
    }
  });

  it('is deleted when it is cancelled', async () => {
    expect(await succeed('cancelOrder', { id: '101' }, 'cancelledOrderId')).toEqual({ cancelledOrderId: '101' });
    expect((await service.graphql('{ order(id: 101) { id } }')).data).toEqual({ order: null });
  });
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

  it('sent at the same time do not disturb each other', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `Pet ${n}`);
    const pets = await Promise.all(
      names.map((name) => succeed('createPet', { name, categoryId: '101' }, 'pet { name category { name } }')),
    );
    expect(pets.map(({ pet }) => pet)).toEqual(names.map((name) => ({ name, category: { name: 'Dogs' } })));
    const { data } = await service.graphql('{ pets { totalCount } inventory { totalCount } }');
    expect(data).toEqual({ pets: { totalCount: 22 }, inventory: { totalCount: 22 } });
  });
});

import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (name, description) values ('Dogs', 'Loyal')`);
await service.sql(`insert into pets (name, category_id) select 'Pet ' || n, 1 from generate_series(1, 120) n`);
await service.sql('insert into inventory (pet_id, quantity) select id, 5 from pets');
await service.sql(`insert into orders (pet_id, quantity, ship_date) values (1, 2, '2026-12-24T10:00:00Z')`);

const fields = `__typename nodeId ... on Pet { id name } ... on Category { id name }
  ... on Order { id shipDate } ... on InventoryItem { id quantity }`;

/** The global ids of the things with the id 1, one of each type. */
const all = `{ pet(id: 1) { nodeId } category(id: 1) { nodeId } order(id: 1) { nodeId } inventoryItem(petId: 1) { nodeId } }`;

async function nodeIds(): Promise<string[]> {
  const { data } = await service.graphql(all);
  return Object.values<{ nodeId: string }>(data).map(({ nodeId }) => nodeId);
}

const nodes = (ids: readonly string[], selection = fields) =>
  service.graphql(`query ($ids: [ID!]!) { nodes(nodeIds: $ids) { ${selection} } }`, { ids });

const node = (nodeId: string | number) =>
  service.graphql(`query ($id: ID!) { node(nodeId: $id) { ${fields} } }`, { id: nodeId });

describe('a global id', () => {
  it('is never that of a node of another type, and never changes', async () => {
    expect(await nodeIds()).toEqual([
      'OWJlZjE5NzNbIlBldCIsIjEiXQ',
      'ZWNhYjUwMzhbIkNhdGVnb3J5IiwiMSJd',
      'NGU3YmIwMDhbIk9yZGVyIiwiMSJd',
      'NTQwNmYzNjhbIkludmVudG9yeUl0ZW0iLCIxIl0',
    ]);
  });

  it('finds its node again, whatever the type', async () => {
    const found = await Promise.all((await nodeIds()).map(async (id) => (await node(id)).data.node));
    expect(found).toEqual([
      { __typename: 'Pet', nodeId: expect.any(String), id: '1', name: 'Pet 1' },
      { __typename: 'Category', nodeId: expect.any(String), id: '1', name: 'Dogs' },
      { __typename: 'Order', nodeId: expect.any(String), id: '1', shipDate: '2026-12-24T10:00:00.000Z' },
      { __typename: 'InventoryItem', nodeId: expect.any(String), id: '1', quantity: 5 },
    ]);
    expect(found.map(({ nodeId }) => nodeId)).toEqual(await nodeIds());
  });

  it('finds nothing once its node is gone', async () => {
    const { data } = await service.graphql(
      'mutation { createCategory(input: { name: "Gone" }) { category { id nodeId } } }',
    );
    const { id, nodeId } = data.createCategory.category;
    await service.graphql('mutation ($id: ID!) { deleteCategory(input: { id: $id }) { deletedCategoryId } }', { id });
    expect(await node(nodeId)).toMatchObject({ data: { node: null }, errors: [] });
  });

  it('is refused when it is not one of this service', async () => {
    const [nodeId] = await nodeIds();
    const { data } = await service.graphql('{ pets(first: 1) { pageInfo { endCursor } } }');
    const swapped = `${nodeId!.slice(0, -2)}${nodeId!.at(-1)}${nodeId!.at(-2)}`;
    for (const wrong of ['', '1', 1, 'Pet:1', swapped, ` ${nodeId}`, `${nodeId}=`, data.pets.pageInfo.endCursor]) {
      const { data: found, errors } = await node(wrong);
      expect([wrong, found, errors[0]?.extensions]).toMatchObject([
        wrong,
        { node: null },
        { code: 'BAD_USER_INPUT', status: 400, violations: [{ field: 'nodeId' }] },
      ]);
    }
  });
});

describe('several global ids', () => {
  it('are returned in their order, each time they come, and with null where there is nothing', async () => {
    const [pet, category] = await nodeIds();
    // Of the pet 9223372036854775807.
    const unknown = 'YmEyYjdmY2NbIlBldCIsIjkyMjMzNzIwMzY4NTQ3NzU4MDciXQ';
    const { data, errors } = await nodes([category!, unknown, pet!, category!], '__typename');
    expect(errors).toEqual([]);
    expect(data.nodes).toEqual([{ __typename: 'Category' }, null, { __typename: 'Pet' }, { __typename: 'Category' }]);
  });

  it('cost one statement for each type, and as much of the quota as any root field', async () => {
    const { data } = await service.graphql('{ pets(first: 50) { edges { node { nodeId } } } }');
    const pets = (data.pets.edges as { node: { nodeId: string } }[]).map((edge) => edge.node.nodeId);
    service.forgetStatements();
    const { errors } = await nodes([...pets, ...(await nodeIds())]);
    expect(errors).toEqual([]);
    // Four for the ids of one of each type, four for the nodes.
    expect(service.statements).toHaveLength(8);
    const [id] = pets;
    const cost = await service.graphql(`{ nodes(nodeIds: ["${id}", "${id}"]) { nodeId } rateLimit { cost } }`);
    expect(cost.data.rateLimit.cost).toBe(2);
  });

  it('are at most 100', async () => {
    const [pet = ''] = await nodeIds();
    expect((await nodes(Array<string>(100).fill(pet), 'nodeId')).data.nodes).toHaveLength(100);
    const { data, errors } = await nodes(Array<string>(101).fill(pet), 'nodeId');
    expect([data.nodes, errors[0]?.extensions]).toMatchObject([
      null,
      { code: 'BAD_USER_INPUT', violations: [{ field: 'nodeIds', message: 'must have at most 100 items, not 101.' }] },
    ]);
  });

  it('are refused together when one of them is not ours, and each such one is named', async () => {
    const [pet] = await nodeIds();
    const { data, errors } = await nodes([pet!, 'x', 'y'], 'nodeId');
    expect(data.nodes).toBeNull();
    expect(errors[0]?.extensions.violations?.map(({ field }) => field)).toEqual(['nodeIds.1', 'nodeIds.2']);
  });
});

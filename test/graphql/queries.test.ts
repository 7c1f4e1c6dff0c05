import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();
await service.sql(`insert into categories (id, name, description) values
  (1, 'Dogs', 'Loyal'), (2, 'Cats', null), (9007199254740993, 'äpfel 100%_\\ Σ', null)`);
await service.sql(`insert into pets (id, name, status, category_id) values
  (1, 'Rex', 'available', 1), (2, 'Bella', 'pending', 1), (3, 'Mia', 'sold', 2), (4, 'rex', 'available', 1),
  (5, 'Bella', 'available', 2), (9223372036854775807, 'Zoë', 'available', 9007199254740993)`);
await service.sql(
  `insert into inventory (pet_id, quantity) values (1, 5), (2, 0), (3, 5), (4, 7), (5, 5), (9223372036854775807, 1)`,
);
await service.sql(`insert into orders (id, pet_id, quantity, ship_date, complete) values
  (1, 1, 2, '2026-01-01T00:00:00.123Z', true), (2, 1, null, null, false), (3, 3, 1, '2025-01-01T00:00:00Z', false),
  (4, null, null, null, false), (5, 1, 1, '2026-01-01T00:00:00.123Z', false)`);

interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

/** The ids on a page, whatever the connection. */
async function idsOf(field: string, args: string): Promise<{ ids: string[]; pageInfo: PageInfo; cursors: string[] }> {
  const { data, errors } = await service.graphql(
    `{ list: ${field}(${args}) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
  );
  expect(errors).toEqual([]);
  const edges = data.list.edges as { cursor: string; node: { id: string } }[];
  return {
    ids: edges.map((edge) => edge.node.id),
    cursors: edges.map((edge) => edge.cursor),
    pageInfo: data.list.pageInfo as PageInfo,
  };
}

describe('nodes are the rows of the edges without cursors', () => {
  it.each([
    ['pets(first: 4, orderBy: { field: NAME })', 'id name version category { name } inventory { quantity }', 4],
    ['categories(last: 2)', 'nodeId name pets(first: 2) { nodes { name } totalCount }', 2],
    ['orders(filter: { complete: false })', 'id pet { name category { name } }', 4],
    ['inventory(first: 3)', '__typename quantity status pet { name }', 3],
    ['pets(first: 0)', 'id', 0],
    ['pets(filter: { nameContains: "rex" })', '...P', 2],
  ])('%s', async (field, selection, rows) => {
    const fragment = selection === '...P' ? 'fragment P on Pet { id orders(first: 1) { nodes { pet { id } } } }' : '';
    const edges = await service.graphql(`{ list: ${field} { edges { node { ${selection} } } } } ${fragment}`);
    const nodes = await service.graphql(`{ list: ${field} { nodes { ${selection} } } } ${fragment}`);
    const both = await service.graphql(
      `{ list: ${field} { nodes { ${selection} } edges { cursor } pageInfo { endCursor } } } ${fragment}`,
    );
    expect([edges.errors, nodes.errors, both.errors]).toEqual([[], [], []]);
    expect(nodes.data.list.nodes).toHaveLength(rows);
    const rowsOf = ({ edges: all }: { edges: { node: unknown }[] }): unknown[] => all.map(({ node }) => node);
    expect(nodes.data.list.nodes).toEqual(rowsOf(edges.data.list));
    expect(both.data.list.nodes).toEqual(nodes.data.list.nodes);
    const cursors = both.data.list.edges as { cursor: string }[];
    expect(both.data.list.pageInfo.endCursor).toBe(cursors.at(-1)?.cursor ?? null);
    expect(nodes.headers['x-graphql-complexity']).toBe(edges.headers['x-graphql-complexity']);
  });
});

describe('a query for one row', () => {
  it('returns what exists, with its relations', async () => {
    const { data } = await service.graphql(`{
      pet(id: 1) { id name status categoryId category { id name description } inventory { id petId quantity status }
        orders(first: 1) { totalCount edges { node { id petId quantity shipDate complete pet { name } } } } }
      category(id: "2") { name description }
      order(id: "4") { id petId quantity shipDate complete pet { id } }
      inventoryItem(petId: "3") { id quantity status pet { name } }
    }`);
    expect(data).toEqual({
      pet: {
        id: '1',
        name: 'Rex',
        status: 'AVAILABLE',
        categoryId: '1',
        category: { id: '1', name: 'Dogs', description: 'Loyal' },
        inventory: { id: '1', petId: '1', quantity: 5, status: 'AVAILABLE' },
        orders: {
          totalCount: 3,
          edges: [
            {
              node: {
                id: '1',
                petId: '1',
                quantity: 2,
                shipDate: '2026-01-01T00:00:00.123Z',
                complete: true,
                pet: { name: 'Rex' },
              },
            },
          ],
        },
      },
      category: { name: 'Cats', description: null },
      order: { id: '4', petId: null, quantity: null, shipDate: null, complete: false, pet: null },
      inventoryItem: { id: '3', quantity: 5, status: 'SOLD', pet: { name: 'Mia' } },
    });
  });

  it.each(['99', '007', '+1', 'abc', '1.0', '9223372036854775808', '', ' 1'])(
    'is null where nothing is found: %j',
    async (id) => {
      const { data, errors } = await service.graphql(
        'query ($id: ID!) { pet(id: $id) { id } category(id: $id) { id } order(id: $id) { id } inventoryItem(petId: $id) { id } }',
        { id },
      );
      expect(errors).toEqual([]);
      expect(data).toEqual({ pet: null, category: null, order: null, inventoryItem: null });
    },
  );

  it('keeps ids exact over the whole range of int64', async () => {
    const { data } = await service.graphql(
      '{ pet(id: 9223372036854775807) { id category { id pets { edges { node { id } } } } } }',
    );
    expect(data.pet).toEqual({
      id: '9223372036854775807',
      category: { id: '9007199254740993', pets: { edges: [{ node: { id: '9223372036854775807' } }] } },
    });
  });
});

describe('a connection', () => {
  it.each([
    ['pets', 'orderBy: { field: NAME, direction: DESC }', ['4', '9223372036854775807', '1', '3', '5', '2']],
    ['pets', 'filter: { statusIn: [PENDING, SOLD] }', ['2', '3']],
    ['pets', 'filter: { statusIn: [] }', []],
    ['pets', 'filter: { categoryIdIn: ["x", "02"] }', []],
    ['pets', 'filter: { categoryIdIn: [1], statusIn: [AVAILABLE], nameContains: "E" }', ['1', '4']],
    ['pets', 'filter: { nameContains: "%" }', []],
    ['pets', 'filter: null, orderBy: null, first: null', ['1', '2', '3', '4', '5', '9223372036854775807']],
    ['categories', 'filter: { nameContains: "%_\\\\" }', ['9007199254740993']],
    ['orders', 'orderBy: { field: SHIP_DATE, direction: DESC }', ['5', '1', '3', '4', '2']],
    ['orders', 'filter: { shipDateFrom: "2026-01-01T01:00:00.123+01:00" }', ['1', '5']],
    ['inventory', 'filter: { quantityAtLeast: 5, quantityAtMost: 6, statusIn: [AVAILABLE] }', ['1', '5']],
  ])('filters and sorts: %s(%s)', async (field, args, expected) => {
    const { ids } = await idsOf(field, args);
    expect(ids).toEqual(expected);
    const { data } = await service.graphql(`{ list: ${field}(${args}) { totalCount } }`);
    expect(data.list.totalCount).toBe(expected.length);
  });

  it.each([
    ['pets', 'orderBy: { field: NAME, direction: DESC }'],
    ['orders', 'orderBy: { field: SHIP_DATE, direction: DESC }'],
  ])('is the same list page by page, forwards and backwards: %s(%s)', async (field, args) => {
    const whole = await idsOf(field, `first: 100, ${args}`);
    expect(whole.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });

    const forwards: string[] = [];
    let after = '';
    for (let pages = 0; pages < whole.ids.length; pages += 1) {
      const page = await idsOf(field, `first: 2, ${after} ${args}`);
      expect(page.pageInfo).toMatchObject({
        hasPreviousPage: after !== '',
        startCursor: page.cursors.at(0),
        endCursor: page.cursors.at(-1),
      });
      forwards.push(...page.ids);
      if (!page.pageInfo.hasNextPage) break;
      after = `after: ${JSON.stringify(page.pageInfo.endCursor)},`;
    }
    expect(forwards).toEqual(whole.ids);

    const backwards: string[] = [];
    let before = '';
    for (let pages = 0; pages < whole.ids.length; pages += 1) {
      const page = await idsOf(field, `last: 2, ${before} ${args}`);
      backwards.unshift(...page.ids);
      if (!page.pageInfo.hasPreviousPage) break;
      before = `before: ${JSON.stringify(page.pageInfo.startCursor)},`;
    }
    expect(backwards).toEqual(whole.ids);
  });

  it('lies between two cursors, and is empty for first: 0', async () => {
    const { cursors } = await idsOf('pets', 'first: 5');
    const between = await idsOf('pets', `after: "${cursors[0]}", before: "${cursors[3]}"`);
    expect(between.ids).toEqual(['2', '3']);
    expect(await idsOf('pets', 'first: 0')).toEqual({
      ids: [],
      cursors: [],
      pageInfo: expect.objectContaining({ startCursor: null, endCursor: null, hasPreviousPage: false }),
    });
  });

  it('continues at the same position when the row of its cursor was deleted and others were created', async () => {
    await service.sql(`insert into categories (id, name) values (50, 'm'), (51, 'n'), (52, 'o'), (53, 'p')`);
    const first = await idsOf(
      'categories',
      'first: 2, filter: { nameContains: "" }, orderBy: { field: NAME, direction: DESC }',
    );
    expect(first.ids).toEqual(['9007199254740993', '53']);
    await service.sql('delete from categories where id = 53');
    await service.sql(`insert into categories (id, name) values (54, 'q')`);
    const second = await idsOf(
      'categories',
      `first: 2, after: "${first.cursors[1]}", orderBy: { field: NAME, direction: DESC }`,
    );
    expect(second.ids).toEqual(['52', '51']);
    await service.sql('delete from categories where id >= 50 and id < 60');
  });

  it('of each parent is a page of its own, with its own total', async () => {
    const { data } = await service.graphql(`{
      categories(orderBy: { field: ID, direction: DESC }) { nodes { id
        available: pets(last: 1, filter: { statusIn: [AVAILABLE] }) { totalCount pageInfo { hasPreviousPage } nodes { id } }
        byName: pets(first: 2, orderBy: { field: NAME }) { totalCount pageInfo { hasNextPage } nodes { id } }
      } }
    }`);
    const available = (totalCount: number, hasPreviousPage: boolean, id: string) => ({
      available: { totalCount, pageInfo: { hasPreviousPage }, nodes: [{ id }] },
    });
    const byName = (totalCount: number, hasNextPage: boolean, ...ids: string[]) => ({
      byName: { totalCount, pageInfo: { hasNextPage }, nodes: ids.map((id) => ({ id })) },
    });
    const zoe = '9223372036854775807';
    expect(data.categories.nodes).toEqual([
      { id: '9007199254740993', ...available(1, false, zoe), ...byName(1, false, zoe) },
      { id: '2', ...available(1, false, '5'), ...byName(2, false, '5', '3') },
      { id: '1', ...available(2, true, '4'), ...byName(3, true, '2', '1') },
    ]);
  });

  it.each<[query: string, field: string, variables?: object]>([
    ['{ pets(last: 101) { totalCount } }', 'last'],
    ['{ pets(first: 1, last: 1) { totalCount } }', 'last'],
    ['{ pets(before: "") { totalCount } }', 'before'],
    ['{ pets(filter: { nameContains: "a\\u0000" }) { totalCount } }', 'filter.nameContains'],
    ['{ orders(filter: { shipDateFrom: "2026-02-30T00:00:00Z" }) { totalCount } }', 'filter.shipDateFrom'],
    ['{ orders(filter: { shipDateTo: "tomorrow" }) { totalCount } }', 'filter.shipDateTo'],
    ['{ categories(first: 1) { edges { node { pets(first: 101) { totalCount } } } } }', 'first'],
    ['{ pets(first: 1) { edges { node { orders(after: "forged") { totalCount } } } } }', 'after'],
    ['query ($first: Int) { pets(first: $first) { totalCount } }', 'first', { first: 101 }],
    [
      'query ($ids: [ID!]) { pets(filter: { categoryIdIn: $ids }) { totalCount } }',
      'filter.categoryIdIn',
      { ids: Array(1001).fill('1') },
    ],
  ])('is refused by the name of the argument that is wrong: %s', async (query, field, variables = {}) => {
    const { errors } = await service.graphql(query, variables);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', status: 400, violations: [{ field }] } }]);
  });

  it('is refused by a cursor of another order', async () => {
    const { cursors } = await idsOf('pets', 'first: 1, orderBy: { field: NAME }');
    const { errors } = await service.graphql(`{ pets(after: "${cursors[0]}") { totalCount } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', violations: [{ field: 'after' }] } }]);
  });
});

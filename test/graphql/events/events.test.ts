import { describe, expect, it } from '@jest/globals';

import { eventIdOf } from '../../../src/domain/events/event.ts';
import { encodeOpaque } from '../../../src/domain/opaque-text.ts';
import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const app = await startTestApp();

const fields =
  'id type at nodeId version object { __typename nodeId ...on Pet { id name status version } ...on InventoryItem { petId quantity } }';

interface EventNode {
  readonly id: string;
  readonly type: string;
  readonly nodeId: string;
  readonly version: string;
  readonly object: Readonly<Record<string, string>>;
}

/** Everything after a position, page by page, until so many events are there. */
async function eventsAfter(after: string, count: number, filter = ''): Promise<EventNode[]> {
  const read = async (): Promise<EventNode[]> => {
    const found: EventNode[] = [];
    for (let position = after, isMore = true; isMore;) {
      const { data, errors } = await app.graphql(
        `query($after: ID) { events(first: 2, after: $after${filter && `, filter: ${filter}`}) { edges { cursor node { ${fields} } } pageInfo { hasNextPage endCursor } } }`,
        { after: position },
      );
      expect(errors).toEqual([]);
      for (const { node } of data.events.edges) found.push(node as EventNode);
      position = data.events.pageInfo.endCursor;
      isMore = data.events.pageInfo.hasNextPage;
    }
    return found;
  };
  await until(async () => (await read()).length >= count);
  return read();
}

/** The position now, when the log has everything that was committed before. */
async function quietCursor(): Promise<string> {
  let last = '';
  await until(async () => {
    const [{ waiting }] = (await app.sql('select count(*)::int as waiting from event_outbox')) as [{ waiting: number }];
    last = (await app.graphql('{ eventCursor }')).data.eventCursor;
    return waiting === 0;
  });
  return last;
}

describe('the log of changes', () => {
  it('has every change in the order of the commits, with the object as it was and its version', async () => {
    const start = await quietCursor();
    const { id } = await app.pet();
    const updated = await app.graphql(
      'mutation($id: ID!) { updatePet(input: { id: $id, status: SOLD }) { pet { nodeId version } } }',
      { id },
    );
    await app.graphql('mutation($id: ID!) { deletePet(input: { id: $id }) { deletedPetId } }', { id });
    const events = await eventsAfter(start, 7);
    const ofPet = events.filter(({ object }) => object['__typename'] === 'Pet');
    expect(ofPet.map(({ type, object }) => [type, object['name'], object['status']])).toEqual([
      ['PET_CREATED', 'Rex', 'AVAILABLE'],
      ['PET_UPDATED', 'Rex', 'SOLD'],
      ['PET_DELETED', 'Rex', 'SOLD'],
    ]);
    const { nodeId, version } = updated.data.updatePet.pet;
    expect(ofPet.map((event) => event.nodeId)).toEqual([nodeId, nodeId, nodeId]);
    expect(ofPet[1]).toMatchObject({ version, object: { nodeId, version } });
    expect(ofPet[2]?.version).toBe(version);
    const item = events.find(({ object }) => object['__typename'] === 'InventoryItem')?.nodeId;
    expect(events.findLast(({ nodeId: each }) => each === item)?.type).toBe('INVENTORY_DELETED');
  });

  it('filters by types and by objects; a page without a match moves on', async () => {
    const start = await quietCursor();
    const [first, second] = [await app.pet({ name: 'A' }), await app.pet({ name: 'B' })];
    const { data } = await app.graphql(`{ pet(id: ${second.id}) { nodeId } }`);
    const all = await eventsAfter(start, 6);
    expect(await eventsAfter(start, 2, '{ typeIn: [PET_CREATED] }')).toEqual(
      all.filter(({ type }) => type === 'PET_CREATED'),
    );
    const ofSecond = await eventsAfter(start, 1, `{ nodeIdIn: ["${data.pet.nodeId}"] }`);
    expect(ofSecond.map(({ object }) => object['id'])).toEqual([String(second.id)]);
    expect(first.id).not.toBe(second.id);
    const none = await app.graphql(
      `{ events(after: "${start}", first: 5, filter: { typeIn: [] }) { nodes { id } pageInfo { hasNextPage startCursor endCursor } } }`,
    );
    expect(none.data.events).toEqual({
      nodes: [],
      pageInfo: { hasNextPage: false, startCursor: null, endCursor: all.at(-1)?.id },
    });
  });

  it('has resynchronizations in every choice of objects, and in a choice of types only when it names them', async () => {
    const { id } = await app.pet();
    const { data } = await app.graphql(`{ pet(id: ${id}) { nodeId } }`);
    const start = await quietCursor();
    await app.sql('truncate orders');
    const typesFor = async (filter: string) => (await eventsAfter(start, 1, filter)).map(({ type }) => type);
    expect(await typesFor(`{ nodeIdIn: ["${data.pet.nodeId}"] }`)).toEqual(['STORE_RESYNC']);
    expect(await typesFor('{ typeIn: [STORE_RESYNC] }')).toEqual(['STORE_RESYNC']);
    expect(await eventsAfter(start, 0, '{ typeIn: [PET_CREATED] }')).toEqual([]);
  });

  it('looks at 1,000 events for a page, which may be empty while the log goes on', async () => {
    const start = await quietCursor();
    await app.sql("insert into categories (name) select 'scanned ' || number from generate_series(1, 1500) number");
    await quietCursor();
    const pageAfter = async (after: string, type: string) => {
      const selection = 'nodes { object { ... on Category { name } } } pageInfo { hasNextPage endCursor }';
      const { data } = await app.graphql(
        `query($after: ID) { events(first: 2, after: $after, filter: { typeIn: [${type}] }) { ${selection} } }`,
        { after },
      );
      const { nodes, pageInfo } = data.events as {
        readonly nodes: readonly { readonly object: { readonly name: string } }[];
        readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
      };
      return { ...pageInfo, names: nodes.map(({ object }) => object.name) };
    };
    const first = await pageAfter(start, 'PET_DELETED');
    expect(first).toMatchObject({ names: [], hasNextPage: true });
    expect(await pageAfter(first.endCursor, 'PET_DELETED')).toMatchObject({ names: [], hasNextPage: false });
    // No more than a page has, whatever was read for it.
    const next = await pageAfter(first.endCursor, 'CATEGORY_CREATED');
    expect(next).toMatchObject({ names: ['scanned 1001', 'scanned 1002'], hasNextPage: true });
    expect((await pageAfter(next.endCursor, 'CATEGORY_CREATED')).names).toEqual(['scanned 1003', 'scanned 1004']);
  });

  it('begins with the oldest event; an empty page stays where it is', async () => {
    const oldest = await app.graphql('{ events(first: 1) { nodes { id } pageInfo { hasPreviousPage hasNextPage } } }');
    expect(oldest.data.events.nodes).toHaveLength(1);
    expect(oldest.data.events.pageInfo).toEqual({ hasPreviousPage: false, hasNextPage: true });
    const { id } = oldest.data.events.nodes[0];
    const empty = await app.graphql(
      `{ events(first: 0, after: "${id}") { nodes { id } pageInfo { hasNextPage endCursor } } }`,
    );
    expect(empty.data.events).toEqual({ nodes: [], pageInfo: { hasNextPage: true, endCursor: id } });
  });

  it.each([
    ['no id', 'x'],
    ['a node id', 'OWJlZjE5NzNbIlBldCIsIjEiXQ'],
    ['a cursor of another list', encodeOpaque(['inventory', '1', '2'])],
  ])('refuses %s', async (_what, after) => {
    const { status, errors } = await app.graphql(`{ events(after: "${after}") { nodes { id } } }`);
    expect([status, errors[0]?.extensions]).toMatchObject([200, { code: 'BAD_USER_INPUT', status: 400 }]);
  });

  it('says so when it no longer has a position', async () => {
    const gone = eventIdOf('1:4711');
    const { status, errors } = await app.graphql(`{ events(after: "${gone}") { nodes { id } } }`);
    expect([status, errors[0]?.extensions]).toMatchObject([200, { code: 'EVENTS_GONE', status: 410 }]);
  });

  it.each([
    ['first: 101', 'first'],
    ['first: -1', 'first'],
    ['filter: { nodeIdIn: ["x"] }', 'filter.nodeIdIn.0'],
  ])('refuses %s by the name of the argument', async (args, field) => {
    const { errors } = await app.graphql(`{ events(${args}) { nodes { id } } }`);
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', violations: [{ field }] });
  });

  it('counts towards complexity as other connections do', async () => {
    const { headers } = await app.graphql('{ events(first: 10) { nodes { id object { nodeId } } } }');
    expect(headers['x-graphql-complexity']).toBe('20');
  });
});

import { describe, expect, it } from '@jest/globals';

import { atEnd } from '../../support/at-end.ts';
import { adminKey } from '../../support/service.ts';
import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';
import { eventStream, multipart, openStream } from '../streams/stream-client.ts';

const app = await startTestApp({ PORT: '0', ADMIN_API_KEY: adminKey });
const address = await app.app.listen();
const limits = { plan: 'enterprise', requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 } as const;
const [one, other, admin] = [
  await app.createKey({ ...limits }),
  await app.createKey({ ...limits }),
  await app.createKey({ ...limits, scopes: ['admin'] }),
];

interface ChangeRequest {
  readonly keyId: string | null;
  readonly requestId: string | null;
}

interface Change {
  readonly type: string;
  readonly request: ChangeRequest | null;
  readonly object: { readonly name?: string };
}

const query =
  'query($after: ID) { events(first: 100, after: $after) { nodes { type request { keyId requestId } object { ... on Category { name } ... on Pet { name } } } } }';

/** The position when everything that was committed is in the log. */
async function cursor(): Promise<string> {
  await until(async () => {
    const rows = await app.sql('select from event_outbox union all select from event_backlog limit 1');
    return rows.length === 0;
  });
  return (await app.graphql('{ eventCursor }')).data.eventCursor;
}

async function changesBy(work: () => Promise<unknown>, key = admin.secret): Promise<Change[]> {
  const after = await cursor();
  await work();
  await cursor();
  const { data, errors } = await app.graphql(query, { after }, key);
  expect(errors).toEqual([]);
  return data.events.nodes;
}

const requestsIn = (changes: readonly Change[]) => changes.map(({ type, request }) => [type, request]);
const sentBy = (key: { readonly secret: string }, id: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key.secret}`,
  'x-request-id': id,
  ...more,
});

describe('the request of an event', () => {
  it('is that of the response, and of its key, over REST', async () => {
    let [category, pet, order] = [0, 0, 0];
    const rest = async (
      id: string,
      method: 'POST' | 'PATCH' | 'DELETE',
      url: string,
      body?: object,
    ): Promise<number> => {
      const response = await app.ask(method, url, body, sentBy(one, id));
      expect(response.headers['x-request-id']).toBe(id);
      expect(response.status).toBeLessThan(300);
      return response.body?.id;
    };
    const changes = await changesBy(async () => {
      category = await rest('c1', 'POST', '/categories', { name: 'Dogs' });
      pet = await rest('p1', 'POST', '/pets', { name: 'Rex', categoryId: category });
      order = await rest('o1', 'POST', '/store/orders', { petId: pet });
      await rest('c2', 'PATCH', `/categories/${category}`, { name: 'Hounds' });
      await rest('p2', 'PATCH', `/pets/${pet}`, { status: 'sold' });
      await rest('o2', 'PATCH', `/store/orders/${order}`, { quantity: 2 });
      await rest('i2', 'PATCH', `/inventory/${pet}`, { quantity: 3 });
      await rest('o3', 'DELETE', `/store/orders/${order}`);
      await rest('p3', 'DELETE', `/pets/${pet}`);
      await rest('c3', 'DELETE', `/categories/${category}`);
    });
    const by = (requestId: string) => ({ keyId: one.id, requestId });
    expect(requestsIn(changes)).toEqual([
      ['CATEGORY_CREATED', by('c1')],
      ['PET_CREATED', by('p1')],
      ['INVENTORY_CREATED', by('p1')],
      ['ORDER_CREATED', by('o1')],
      ['CATEGORY_UPDATED', by('c2')],
      ['PET_UPDATED', by('p2')],
      ['INVENTORY_UPDATED', by('p2')],
      ['ORDER_UPDATED', by('o2')],
      ['INVENTORY_UPDATED', by('i2')],
      ['ORDER_CANCELLED', by('o3')],
      ['PET_DELETED', by('p3')],
      ['INVENTORY_DELETED', by('p3')],
      ['CATEGORY_DELETED', by('c3')],
    ]);
  });

  it('is one for all root fields of a mutation, with and without @atomic and an Idempotency-Key', async () => {
    for (const [id, directive, more] of [
      ['plain', '', {}],
      ['atomic', '@atomic', {}],
      ['keyed', '', { 'idempotency-key': 'k1' }],
      ['keyed-atomic', '@atomic', { 'idempotency-key': 'k2' }],
    ] as const) {
      const pet = await app.pet();
      const mutation = `mutation ${directive} { a: createCategory(input: { name: "A" }) { category { id } }
        b: updatePet(input: { id: ${pet.id}, name: "B" }) { pet { id } }
        c: createOrder(input: { petId: ${pet.id} }) { order { id } } }`;
      const send = () => app.graphql(mutation, {}, one.secret, { 'x-request-id': id, ...more });
      const changes = await changesBy(async () => {
        expect((await send()).errors).toEqual([]);
        // A replay changes nothing.
        if (id.startsWith('keyed')) expect((await send()).replayed).toEqual(['a', 'b', 'c']);
      });
      const request = { keyId: one.id, requestId: id };
      expect(requestsIn(changes)).toEqual([
        ['CATEGORY_CREATED', request],
        ['PET_UPDATED', request],
        ['ORDER_CREATED', request],
      ]);
    }
  });

  it.each([
    ['', () => ({})],
    [', each with an Idempotency-Key', (id: string) => ({ 'idempotency-key': id })],
  ])('names the right key and request for creations of two keys at the same time%s', async (_, more) => {
    const requests = Array.from({ length: 60 }, (_each, n) => ({ key: n % 2 === 0 ? one : other, id: `many-${n}` }));
    const changes = await changesBy(() =>
      Promise.all(
        requests.map(({ key, id }) => app.ask('POST', '/categories', { name: id }, sentBy(key, id, more(id)))),
      ),
    );
    expect(changes).toHaveLength(requests.length);
    for (const { object, request } of changes) {
      const { key, id } = requests.find((each) => each.id === object.name)!;
      expect(request).toEqual({ keyId: key.id, requestId: id });
    }
  });

  it('has no key for ADMIN_API_KEY', async () => {
    const changes = await changesBy(() =>
      app.ask('POST', '/categories', { name: 'Dogs' }, sentBy({ secret: adminKey }, 'by-admin')),
    );
    expect(requestsIn(changes)).toEqual([['CATEGORY_CREATED', { keyId: null, requestId: 'by-admin' }]]);
  });

  it('is null for plain SQL, also on a session that has carried out requests, and whatever it sets', async () => {
    // What the previous version's processes send, too.
    const changes = await changesBy(async () => {
      await app.ask('POST', '/categories', { name: 'Dogs' }, sentBy(one, 'before'));
      await app.sql(`insert into categories (name) values ('Cats')`);
      await app.sql(`begin; select set_config('petstore.request', 'anything: else', true);
        insert into categories (name) values ('Birds'); commit`);
      await app.sql(`begin; set local petstore.events = 'off'; insert into categories (name) values ('Fish'); commit`);
    });
    expect(requestsIn(changes)).toEqual([
      ['CATEGORY_CREATED', { keyId: one.id, requestId: 'before' }],
      ['CATEGORY_CREATED', null],
      ['CATEGORY_CREATED', null],
      ['STORE_RESYNC', null],
    ]);
  });

  it('is shown to administrators only, and to nobody over REST', async () => {
    const after = await cursor();
    await app.ask('POST', '/categories', { name: 'Dogs' }, sentBy(one, 'hidden'));
    await cursor();
    for (const [{ secret }, request] of [
      [admin, { keyId: one.id, requestId: 'hidden' }],
      [one, null],
    ] as const) {
      const { data } = await app.graphql(query, { after }, secret);
      expect(data.events.nodes).toEqual([{ type: 'CATEGORY_CREATED', request, object: { name: 'Dogs' } }]);
      const { body } = await app.ask('GET', `/events?cursor=${after}`, undefined, sentBy({ secret }, 'read'));
      expect(Object.keys(body[0])).toEqual(['id', 'type', 'at', 'resource', 'version', 'object']);
    }
  });

  it.each([eventStream, multipart])(
    'is shown to administrators only by streams of one text over %s',
    async (accept) => {
      const text = 'subscription { events { type request { keyId requestId } } }';
      const holders = [one, admin, other, admin];
      const streams = await Promise.all(
        holders.map(({ secret }) => openStream(address, secret, { query: text }, accept)),
      );
      atEnd(() => streams.forEach((stream) => stream.close()));
      await app.ask('POST', '/categories', { name: 'Dogs' }, sentBy(one, 'streamed'));
      await Promise.all(streams.map((stream) => stream.until(1)));
      const shown = { keyId: one.id, requestId: 'streamed' };
      expect(streams.map((stream) => stream.results()[0].data.events.request)).toEqual([null, shown, null, shown]);
    },
  );
});

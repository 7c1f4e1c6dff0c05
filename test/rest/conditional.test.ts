import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const rest = await startTestApp();

/** One of each kind, with the address where it is. */
async function oneOfEach(): Promise<Record<'pet' | 'category' | 'order' | 'inventory', string>> {
  const { id, categoryId } = await rest.pet();
  const order = await rest.ask('POST', '/store/orders', { petId: id, quantity: 2, shipDate: '2026-12-24T10:00:00Z' });
  return {
    pet: `/pets/${id}`,
    category: `/categories/${categoryId}`,
    order: `/store/orders/${order.body.id}`,
    inventory: `/inventory/${id}`,
  };
}

const changes = {
  pet: [{ name: 'Max' }, { name: 'Moritz' }],
  category: [{ description: 'Good' }, { description: 'Better' }],
  order: [{ quantity: 3 }, { quantity: 4 }],
  inventory: [{ quantity: 5 }, { quantity: 6 }],
} as const;
const nouns = Object.keys(changes) as (keyof typeof changes)[];

const failed = { status: 412, body: { code: 'precondition_failed', status: 412 } };

it('tags the same state alike in the responses to GET, POST and PATCH', async () => {
  for (const noun of nouns) {
    const url = (await oneOfEach())[noun];
    const patched = await rest.ask('PATCH', url, changes[noun][0]);
    const got = await rest.ask('GET', url);
    expect([noun, got.headers['etag'], got.text]).toStrictEqual([noun, patched.headers['etag'], patched.text]);
    expect(got.headers['etag']).toMatch(/^"[\w-]+"$/);
  }
  const created = await rest.ask('POST', '/store/orders', { shipDate: '2026-12-24T10:00:00Z', quantity: 1 });
  expect((await rest.ask('GET', created.headers['location']!)).headers['etag']).toBe(created.headers['etag']);
});

describe('If-None-Match', () => {
  it('responds with 304 without a body while the client knows the state, by GET and HEAD', async () => {
    for (const url of Object.values(await oneOfEach())) {
      const etag = (await rest.ask('GET', url)).headers['etag']!;
      for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
        for (const method of ['GET', 'HEAD'] as const) {
          const response = await rest.ask(method, url, undefined, { 'if-none-match': known });
          expect([url, response.status, response.text]).toStrictEqual([url, 304, '']);
          expect(response.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' });
          expect(response.headers['content-type']).toBeUndefined();
        }
      }
      expect((await rest.ask('GET', url, undefined, { 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  it('refuses a change of what is as the client has named it', async () => {
    for (const noun of nouns) {
      const url = (await oneOfEach())[noun];
      const { text, headers } = await rest.ask('GET', url);
      const etag = headers['etag']!;
      for (const known of [etag, `W/${etag}`, '*']) {
        expect(await rest.ask('PATCH', url, changes[noun][0], { 'if-none-match': known })).toMatchObject(failed);
        if (noun === 'inventory') continue;
        expect(await rest.ask('DELETE', url, undefined, { 'if-none-match': known })).toMatchObject(failed);
      }
      expect((await rest.ask('GET', url)).text).toBe(text);
      const both = { 'if-match': etag, 'if-none-match': '"other"' };
      expect([noun, (await rest.ask('PATCH', url, changes[noun][0], both)).status]).toStrictEqual([noun, 200]);
    }
  });

  it('does not turn a 404 into anything else', async () => {
    expect((await rest.ask('GET', '/pets/999999', undefined, { 'if-none-match': '*' })).status).toBe(404);
  });
});

describe('If-Match', () => {
  it('is 412 on GET and HEAD unless it names the state, and comes before If-None-Match', async () => {
    const { pet, ...others } = await oneOfEach();
    const selected = `/pets?id=${pet.slice('/pets/'.length)}`;
    for (const url of [pet, selected, ...Object.values(others)]) {
      const etag = (await rest.ask('GET', url)).headers['etag']!;
      for (const match of [undefined, '*', etag, `"other", ${etag}`, '"other"', `W/${etag}`, '']) {
        for (const noneMatch of [undefined, '*', etag, `W/${etag}`, '"other"']) {
          const holds = match === undefined || match === '*' || (match.endsWith(etag) && !match.startsWith('W/'));
          const isKnown = noneMatch !== undefined && noneMatch !== '"other"';
          const status = !holds ? 412 : isKnown ? 304 : 200;
          const headers = {
            ...(match !== undefined && { 'if-match': match }),
            ...(noneMatch !== undefined && { 'if-none-match': noneMatch }),
          };
          for (const method of ['GET', 'HEAD'] as const) {
            const response = await rest.ask(method, url, undefined, headers);
            expect([method, url, headers, response.status]).toStrictEqual([method, url, headers, status]);
            if (status === 412 && method === 'GET') expect(response).toMatchObject(failed);
          }
        }
      }
    }
    expect((await rest.ask('GET', '/pets/999999', undefined, { 'if-match': '"any"' })).status).toBe(404);
  });

  it('changes what is still as the client has seen it, and refuses the rest', async () => {
    for (const noun of nouns) {
      const url = (await oneOfEach())[noun];
      const [first, second] = changes[noun];
      const etag = (await rest.ask('GET', url)).headers['etag']!;
      const changed = await rest.ask('PATCH', url, first, { 'if-match': `"other", ${etag}` });
      expect([noun, changed.status]).toStrictEqual([noun, 200]);
      for (const stale of [etag, `W/${changed.headers['etag']}`, `W/${etag}*`, 'nonsense', '']) {
        expect(await rest.ask('PATCH', url, second, { 'if-match': stale })).toMatchObject(failed);
      }
      expect((await rest.ask('GET', url)).text).toBe(changed.text);
      expect((await rest.ask('PATCH', url, second, { 'if-match': '*' })).status).toBe(200);
    }
  });

  it('deletes only what is still as the client has seen it', async () => {
    const { order, pet, category } = await oneOfEach();
    for (const url of [order, pet, category]) {
      const { headers } = await rest.ask('GET', url);
      expect(await rest.ask('DELETE', url, undefined, { 'if-match': '"stale"' })).toMatchObject(failed);
      expect((await rest.ask('DELETE', url, undefined, { 'if-match': headers['etag']! })).status).toBe(204);
      expect((await rest.ask('DELETE', url, undefined, { 'if-match': headers['etag']! })).status).toBe(404);
    }
  });

  it('comes before what the state would not allow', async () => {
    const { headers } = await rest.ask('POST', '/store/orders', { complete: true });
    const order = headers['location']!;
    expect((await rest.ask('PATCH', order, { complete: false }, { 'if-match': '"stale"' })).status).toBe(412);
    expect((await rest.ask('PATCH', order, { complete: false }, { 'if-match': headers['etag']! })).status).toBe(409);
  });

  it('of an inventory entry is decided with its pet locked too, the pet first, because it covers its status', async () => {
    const { inventory } = await oneOfEach();
    const { headers } = await rest.ask('GET', inventory);
    rest.forgetStatements();
    await rest.ask('PATCH', inventory, { quantity: 9 }, { 'if-match': headers['etag']! });
    const locks = rest.statements.flatMap((sql) => / from (\w+) where [^()]* for no key update/.exec(sql)?.[1] ?? []);
    expect(locks).toEqual(['pets', 'inventory']);
  });

  it('lets exactly one of many at the same time win', async () => {
    for (const noun of nouns) {
      const url = (await oneOfEach())[noun];
      const { headers } = await rest.ask('GET', url);
      const bodies = Array.from({ length: 10 }, (_, index) =>
        noun === 'pet' || noun === 'category' ? { name: `Nr ${index}` } : { quantity: 100 + index },
      );
      const responses = await Promise.all(
        bodies.map((body) => rest.ask('PATCH', url, body, { 'if-match': headers['etag']! })),
      );
      const won = responses.filter(({ status }) => status === 200);
      expect([noun, won.length, responses.filter(({ status }) => status === 412).length]).toStrictEqual([noun, 1, 9]);
      expect((await rest.ask('GET', url)).text).toBe(won[0]!.text);
    }
  });
});

import { describe, expect, it } from '@jest/globals';

import { nouns } from '../../src/domain/nouns.ts';
import { startTestApp } from '../support/test-app.ts';

const rest = await startTestApp();

const big = '9007199254740993';

describe('pets', () => {
  it('are created with an empty inventory entry, available unless it is said otherwise', async () => {
    const categoryId = await rest.category();
    const created = await rest.ask('POST', '/pets', { name: '  Bella\n', categoryId });
    expect(created.status).toBe(201);
    expect(created.body).toStrictEqual({ id: created.body.id, name: 'Bella', categoryId, status: 'available' });
    expect(created.headers['location']).toBe(`/pets/${created.body.id}`);
    expect((await rest.ask('GET', created.headers['location']!)).body).toStrictEqual(created.body);
    expect((await rest.ask('GET', `/inventory/${created.body.id}`)).body).toStrictEqual({
      petId: created.body.id,
      quantity: 0,
      status: 'available',
    });
  });

  it('change in the fields that are given and in no other', async () => {
    const { id, categoryId } = await rest.pet();
    expect((await rest.ask('PATCH', `/pets/${id}`, { status: 'sold' })).body).toStrictEqual({
      id,
      name: 'Rex',
      categoryId,
      status: 'sold',
    });
    const mergePatch = { 'content-type': 'application/merge-patch+json' };
    const renamed = await rest.ask('PATCH', `/pets/${id}`, { name: 'Max', id: 5, unknown: true }, mergePatch);
    expect(renamed.status).toBe(200);
    expect(renamed.body).toStrictEqual({ id, name: 'Max', categoryId, status: 'sold' });
    expect((await rest.ask('GET', `/inventory/${id}`)).body.status).toBe('sold');
  });

  it('are gone with their inventory entries, and are 404 from then on', async () => {
    const { id } = await rest.pet();
    const deleted = await rest.ask('DELETE', `/pets/${id}`);
    expect([deleted.status, deleted.text, deleted.headers['content-type']]).toStrictEqual([204, '', undefined]);
    for (const url of [`/pets/${id}`, `/inventory/${id}`]) {
      expect(await rest.ask('GET', url)).toMatchObject({ status: 404, body: { code: 'not_found', status: 404 } });
    }
    expect((await rest.ask('DELETE', `/pets/${id}`)).status).toBe(404);
  });
});

describe('orders', () => {
  it('give the same 404 for a cancelled one and an unknown one', async () => {
    const { body } = await rest.ask('POST', '/store/orders', {});
    expect((await rest.ask('DELETE', `/store/orders/${body.id}`)).status).toBe(204);
    for (const id of [body.id, 999_999]) {
      expect(await rest.ask('DELETE', `/store/orders/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found', message: `There is no order with the id "${id}".`, status: 404 },
      });
    }
  });

  it('change neither the stock nor the status of their pet', async () => {
    const { id: petId } = await rest.pet();
    await rest.ask('PATCH', `/inventory/${petId}`, { quantity: 3 });
    await rest.ask('POST', '/store/orders', { petId, quantity: 2, complete: true });
    expect((await rest.ask('GET', `/inventory/${petId}`)).body).toStrictEqual({
      petId,
      quantity: 3,
      status: 'available',
    });
  });
});

describe('int64', () => {
  it('comes in and goes out with all its digits, in paths, queries, bodies and headers', async () => {
    await rest.sql(`insert into categories (id, name) values ($1, 'Big')`, [big]);
    await rest.sql(`insert into pets (id, name, category_id) values ($1, 'Big', $1)`, [big]);
    await rest.sql('insert into inventory (pet_id) values ($1)', [big]);
    const pet = `{"id":${big},"name":"Big","categoryId":${big},"status":"available"}`;
    expect((await rest.ask('GET', `/pets/${big}`)).text).toBe(pet);
    expect((await rest.ask('GET', `/pets?id=${big}`)).text).toBe(`[${pet}]`);
    expect((await rest.ask('PATCH', `/pets/${big}`, `{"categoryId":${big}}`)).text).toBe(pet);
    expect((await rest.ask('GET', `/inventory/${big}`)).text).toContain(`"petId":${big},`);
    const order = await rest.ask('POST', '/store/orders', `{"petId":${big}}`);
    expect(order.text).toContain(`"petId":${big},`);
    expect((await rest.ask('GET', `/pets/${big.slice(0, -1)}2`)).status).toBe(404);
    expect((await rest.ask('POST', '/store/orders', `{"petId":${big.slice(0, -1)}2}`)).status).toBe(400);
  });

  it.each([
    '-9223372036854775808',
    '-100000000000000',
    '-99999999999999',
    '-1',
    '0',
    '99999999999999',
    '999999999999999',
  ])('is the JSON number %s', async (id) => {
    await rest.sql(`insert into categories (id, name) values ($1, 'Any')`, [id]);
    expect((await rest.ask('GET', `/categories/${id}`)).text).toBe(`{"id":${id},"name":"Any"}`);
  });

  it('of more digits, with a fraction, or as a text is refused', async () => {
    for (const petId of ['9223372036854775808', '1.5', '"1"', '9007199254740993.0', '1e400', 'true', '[]']) {
      const refused = await rest.ask('POST', '/store/orders', `{"petId":${petId}}`);
      expect([petId, refused.status, refused.body.code]).toStrictEqual([petId, 400, 'validation_failed']);
    }
  });
});

it('names nothing by an id that is not canonical: 404 on every path with an id', async () => {
  await rest.pet();
  for (const { path } of Object.values(nouns)) {
    for (const id of ['007', '+1', '%2B1', 'abc', '1.0', ' 1', '1%20', '9223372036854775808', '%00', '-0', '1e0']) {
      const { status, body } = await rest.ask('GET', `${path}/${encodeURI(id)}`);
      expect([path, id, status, body.code]).toStrictEqual([path, id, 404, 'not_found']);
    }
  }
});

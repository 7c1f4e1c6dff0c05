import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const rest = await startTestApp();
const categoryId = await rest.category();
const big = '9007199254740993';

const failed = (...fields: string[]) => ({
  status: 400,
  body: {
    code: 'validation_failed',
    message: expect.stringMatching(new RegExp(fields.map((field) => `${field}: .*`).join(''))),
    status: 400,
  },
});

it('responds with exactly the Error object', async () => {
  const { text, headers } = await rest.ask('POST', '/pets', {});
  expect(text).toBe('{"code":"validation_failed","message":"name: is missing. categoryId: is missing.","status":400}');
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(headers['cache-control']).toBe('no-store');
});

it.each([
  ['an empty body', ''],
  ['what is not JSON', '{"name":'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['an array', '[]'],
  ['a text', '"Rex"'],
  ['null', 'null'],
  ['a number', '7'],
  ['a number beyond all numbers', '1e400'],
  ['nesting without end', '['.repeat(500_000)],
])('responds with bad_request to %s', async (_name, body) => {
  for (const [method, url] of [
    ['POST', '/pets'],
    ['POST', '/categories'],
    ['POST', '/store/orders'],
    ['PATCH', '/pets/1'],
    ['PATCH', '/inventory/1'],
  ] as const) {
    expect(await rest.ask(method, url, body)).toMatchObject({
      status: 400,
      body: { code: 'bad_request', status: 400 },
    });
  }
});

describe('a body', () => {
  it('gets every field that is wrong with it', async () => {
    expect(await rest.ask('POST', '/pets', { name: '', categoryId: '1', status: 'lost' })).toMatchObject(
      failed('name', 'categoryId', 'status'),
    );
    expect(
      await rest.ask('POST', '/store/orders', { petId: 0.5, quantity: 0, shipDate: 'tomorrow', complete: 'yes' }),
    ).toMatchObject(failed('petId', 'quantity', 'shipDate', 'complete'));
    expect(await rest.ask('POST', '/categories', { name: 5, description: null })).toMatchObject(
      failed('name', 'description'),
    );
  });

  it.each([
    '9007199254740993.0',
    '4503599627370497.5',
    '9.007199254740993e15',
    '1e400',
    '-1E+400',
    '1.50',
    '123456789012345678901234567890',
    '9223372036854775808',
  ])('gets an error with the number %s as it was written', async (number) => {
    const { body } = await rest.ask('POST', '/store/orders', `{"petId":${number},"quantity":${number}}`);
    const ids = 'a whole number in digits, from -9223372036854775808 to 9223372036854775807';
    expect(body.message).toBe(
      `petId: must be ${ids}, not ${number}. quantity: must be a whole number from 1 to 2147483647, not ${number}.`,
    );
    const pet = await rest.ask('POST', '/pets', `{"name":${number},"categoryId":${categoryId}}`);
    expect(pet.body.message).toBe(`name: must be a string, not ${number}.`);
  });

  it('gets an error that says what is there instead of a value, however deep that is', async () => {
    const nested = '['.repeat(498) + ']'.repeat(498);
    const { status, body } = await rest.ask('POST', '/pets', `{"name":${nested},"categoryId":{"a":1.5}}`);
    expect([status, body.message]).toStrictEqual([
      400,
      'name: must be a string, not an array. categoryId: must be a whole number in digits, from -9223372036854775808 to ' +
        '9223372036854775807, not an object.',
    ]);
    expect((await rest.ask('POST', '/categories', `{"name":"Deep","unknown":[${nested},1.5]}`)).status).toBe(201);
  });

  it('has at most 500 levels, in fields that are ignored too', async () => {
    const body = (levels: number): string => `{"name":"Deep","unknown":${'['.repeat(levels)}1.5${']'.repeat(levels)}}`;
    expect((await rest.ask('POST', '/categories', body(499))).status).toBe(201);
    expect(await rest.ask('POST', '/categories', body(500))).toMatchObject({
      status: 400,
      body: { code: 'bad_request', message: expect.stringContaining('500 levels') },
    });
  });

  it('has at most 10,000 values, in fields that are ignored too, whatever is accepted', async () => {
    const body = (items: number): string => `{"name":"Many","unknown":[${'9e99,'.repeat(items - 1)}1]}`;
    expect((await rest.ask('POST', '/categories', body(9_998))).status).toBe(201);
    for (const accept of ['application/json', 'application/problem+json']) {
      expect(await rest.ask('POST', '/categories', body(9_999), { accept })).toMatchObject({
        status: 400,
        body: { code: 'bad_request', message: expect.stringContaining('10,000 values') },
      });
    }
  });

  it('changes nothing without a field that is known', async () => {
    const { id } = await rest.pet();
    for (const body of [{}, { colour: 'brown' }, { id: 5 }]) {
      expect(await rest.ask('PATCH', `/pets/${id}`, body)).toMatchObject(failed('body'));
    }
    expect((await rest.ask('PATCH', `/pets/${id}`, { name: 'Rex' })).status).toBe(200);
    expect(await rest.ask('PATCH', `/inventory/${id}`, {})).toMatchObject(failed('quantity'));
  });

  it('is validated before its target is looked up', async () => {
    expect(await rest.ask('PATCH', '/pets/999999', { name: '' })).toMatchObject(failed('name'));
    expect(await rest.ask('PATCH', '/pets/999999', { categoryId: 999_999 })).toMatchObject(failed('categoryId'));
    expect((await rest.ask('PATCH', '/pets/999999', { name: 'Rex' })).status).toBe(404);
  });
});

describe('a query', () => {
  it.each([
    ['limit', '/pets?limit=0'],
    ['limit', '/pets?limit=101'],
    ['limit', '/pets?limit='],
    ['limit', '/pets?limit=5.0'],
    ['limit', '/pets?limit=%2B5'],
    ['limit', '/pets?limit=1&limit=2'],
    ['limit', '/store/orders?limit=1001'],
    ['limit', '/inventory?limit=-1'],
    ['status', '/pets?status=lost'],
    ['status', '/pets?status=sold&status=sold'],
    ['cursor', '/pets?cursor=forged'],
    ['cursor', '/categories?cursor='],
    ['id', '/pets?id=abc'],
    ['id', '/pets?id=1,,2'],
    ['id', '/pets?id=007'],
    ['id', '/pets?id=1,2&id=x'],
    ['id', '/pets?id[]=1&id[]=2'],
    ['id', '/pets?id%5B0%5D=1'],
    ['status', '/pets?status[0]=sold'],
    ['limit', '/store/orders?limit[]=5'],
    ['id', `/pets?id=${Array.from({ length: 101 }, (_, index) => index).join(',')}`],
  ])('gets an error that says that %s is wrong in %s', async (field, url) => {
    expect(await rest.ask('GET', url)).toMatchObject(failed(field));
  });

  it('gets every parameter that is wrong', async () => {
    expect(await rest.ask('GET', '/pets?limit=x&status=lost&cursor=y')).toMatchObject(
      failed('limit', 'cursor', 'status'),
    );
  });

  it('gets an error that says how a list is written', async () => {
    const { body } = await rest.ask('GET', '/pets?id[]=1&status[]=sold&limit=0');
    expect(body.message).toBe(
      'limit: must be a whole number from 1 to 100, not 0. status: must be written status=VALUE, not "status[]". ' +
        'id: must be written id=1,2 or id=1&id=2, not "id[]".',
    );
  });

  it('may have unknown parameters, even twice', async () => {
    expect((await rest.ask('GET', '/pets?colour[]=brown&colour[]=black&identity[0]=1')).status).toBe(200);
    expect((await rest.ask('GET', '/pets?colour=brown&colour=black&limit=1')).status).toBe(200);
    expect((await rest.ask('GET', '/pets/999999?limit=x')).status).toBe(404);
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
    expect((await rest.ask('GET', `/categories/${id}`)).text).toContain(`"id":${id},`);
  });
});

import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const total = 2_345;

const rest = await startTestApp();
await rest.sql(`insert into categories (id, name) select n, 'Kind ' || n from generate_series(1, ${total}) n`);
await rest.sql(`insert into pets (id, name, category_id, status)
  select n, 'Pet ' || n, 1 + n % 3, (array['available', 'pending', 'sold'])[1 + n % 3] from generate_series(1, ${total}) n`);
await rest.sql(`insert into inventory (pet_id, quantity) select n, n from generate_series(1, ${total}) n`);
await rest.sql(`insert into orders (id, pet_id, quantity) select n, n, 1 from generate_series(1, ${total}) n`);

const nextOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  /^<(.+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];

const idsOf = (rows: readonly { id?: number; petId: number }[]): number[] => rows.map(({ id, petId }) => id ?? petId);

/** The ids of every page from the address on, page by page. */
async function walk(url: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let next: string | undefined = url; next !== undefined;) {
    const { status, body, headers } = await rest.ask('GET', next);
    expect(status).toBe(200);
    pages.push(idsOf(body));
    next = nextOf(headers);
  }
  return pages;
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const lists = ['/categories', '/store/orders', '/inventory'] as const;

describe('GET /pets', () => {
  it('returns 20 when no limit is given, at most 100, and names the next page', async () => {
    expect((await rest.ask('GET', '/pets')).body).toHaveLength(20);
    const { body, headers } = await rest.ask('GET', '/pets?limit=100');
    expect(body).toHaveLength(100);
    expect(nextOf(headers)).toMatch(/^\/pets\?limit=100&cursor=[\w-]+$/);
  });

  it('leads through all pets, each once and in the order of their ids', async () => {
    const pages = await walk('/pets?limit=100');
    expect(pages.flat()).toStrictEqual(upTo(total));
    expect(pages).toHaveLength(24);
  });

  it('keeps status and limit on the way', async () => {
    const pages = await walk('/pets?status=sold&limit=100&unknown=1');
    expect(pages.flat()).toStrictEqual(upTo(total).filter((id) => id % 3 === 2));
    expect(pages.slice(0, -1).every((page) => page.length === 100)).toBe(true);
  });

  it('has no next page after the last row, even when that page is full', async () => {
    expect(await walk(`/pets?limit=1&id=7,8`)).toStrictEqual([[7], [8]]);
    expect((await rest.ask('GET', '/pets?limit=2&id=7,8')).headers['link']).toBeUndefined();
  });

  it('costs one statement, and the last page none more than the first', async () => {
    const middle = nextOf((await rest.ask('GET', '/pets?limit=50')).headers)!;
    rest.forgetStatements();
    await rest.ask('GET', middle);
    expect(rest.statements).toHaveLength(1);
    expect(rest.statements[0]).not.toMatch(/offset/i);
  });
});

describe('GET /pets?id=', () => {
  it('picks pets by their ids, in the order of the ids, repeated ones once and unknown ones not at all', async () => {
    expect(await walk('/pets?id=30,7,7,999999,-1,2')).toStrictEqual([[2, 7, 30]]);
  });

  it('returns all of them on one page unless a limit says otherwise', async () => {
    const ids = upTo(100);
    expect(await walk(`/pets?id=${ids.join(',')}`)).toStrictEqual([ids]);
    expect(await walk(`/pets?id=${ids.join(',')}&limit=40`)).toStrictEqual([
      ids.slice(0, 40),
      ids.slice(40, 80),
      ids.slice(80),
    ]);
  });

  it('takes repeated parameters for one list', async () => {
    expect(await walk('/pets?id=30&id=7,8&id=7')).toStrictEqual([[7, 8, 30]]);
    expect(await walk('/pets?id=30&id=7&limit=1')).toStrictEqual([[7], [30]]);
  });

  it('goes together with status', async () => {
    expect(await walk('/pets?id=1,2,3,4,5&status=sold')).toStrictEqual([[2, 5]]);
  });

  it('is what GET /pets/{petId} returns, in an array', async () => {
    const [one, listed] = [await rest.ask('GET', '/pets/5'), await rest.ask('GET', '/pets?id=5')];
    expect(listed.text).toBe(`[${one.text}]`);
    expect((await rest.ask('GET', '/pets?id=999999')).text).toBe('[]');
  });

  it("has the pet's own tag when it returns one, valid for a change of it", async () => {
    const { etag } = (await rest.ask('GET', '/pets?id=5')).headers;
    expect(etag).toBe((await rest.ask('GET', '/pets/5')).headers['etag']);
    expect((await rest.ask('GET', '/pets?id=5', undefined, { 'if-none-match': etag! })).status).toBe(304);
    expect((await rest.ask('PATCH', '/pets/5', { name: 'Max' }, { 'if-match': etag! })).status).toBe(200);
    expect((await rest.ask('GET', '/pets?id=5', undefined, { 'if-none-match': etag! })).body[0].name).toBe('Max');
  });

  it('has a tag of all that it returns, but none while there is a next page', async () => {
    const { etag } = (await rest.ask('GET', '/pets?id=8,9')).headers;
    expect((await rest.ask('GET', '/pets?id=9&id=8', undefined, { 'if-none-match': etag! })).status).toBe(304);
    await rest.ask('PATCH', '/pets/9', { name: 'Moritz' });
    expect((await rest.ask('GET', '/pets?id=8,9', undefined, { 'if-none-match': etag! })).status).toBe(200);
    expect((await rest.ask('GET', '/pets?id=8,9&limit=1')).headers['etag']).toBeUndefined();
  });
});

describe.each(lists)('GET %s', (url) => {
  it('returns the whole collection in the order of the ids, in statements of at most 1,000 rows', async () => {
    rest.forgetStatements();
    const { body, headers } = await rest.ask('GET', url);
    expect(idsOf(body)).toStrictEqual(upTo(total));
    expect(headers['link']).toBeUndefined();
    const limits = rest.statements.map((sql) => Number(/limit (\d+)/.exec(sql)?.[1]));
    expect(limits.length).toBeGreaterThan(2);
    // One row more than the page, which shows whether there are more.
    expect(limits.every((limit) => limit <= 1001)).toBe(true);
    expect(rest.statements.filter((sql) => /begin|declare|offset/i.test(sql))).toStrictEqual([]);
  });

  it('pages the same rows when a limit from 1 to 1,000 is given', async () => {
    const pages = await walk(`${url}?limit=1000`);
    expect(pages.flat()).toStrictEqual(upTo(total));
    expect(pages.map(({ length }) => length)).toStrictEqual([1000, 1000, 345]);
    expect((await rest.ask('GET', `${url}?limit=1`)).body).toHaveLength(1);
  });

  it('goes on from a cursor to the end without a limit', async () => {
    const next = nextOf((await rest.ask('GET', `${url}?limit=1000`)).headers)!;
    expect((await rest.ask('GET', next.replace('limit=1000&', ''))).body).toHaveLength(total - 1000);
  });
});

it('has a page of orders exactly like the whole collection', async () => {
  const [page, whole] = [await rest.ask('GET', '/store/orders?limit=3'), await rest.ask('GET', '/store/orders')];
  expect(whole.text.startsWith(page.text.slice(0, -1))).toBe(true);
  expect(page.body[0]).toStrictEqual({ id: 1, petId: 1, quantity: 1, complete: false });
});

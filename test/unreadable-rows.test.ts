import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { startTestApp } from './support/test-app.ts';

/** Without and with a value of a newer version. */
const pets = { known: 0, newer: 0 };
const orders = { known: 0, newer: 0 };

const seed = Number(process.env['UNREADABLE_SEED'] ?? Date.now() % 2 ** 31);

/** A trigger leaves out rows whose name begins with `newer`; another one records all that is written. */
const app = await startTestApp({ LOG_LEVEL: 'warn' });
for (const kind of ['known', 'newer'] as const) {
  pets[kind] = (await app.pet()).id;
  orders[kind] = (await app.ask('POST', '/store/orders', { petId: pets.known })).body.id;
}
for (const sql of [
  'alter table pets drop constraint pets_check',
  'alter table orders drop constraint orders_ship_date_check',
  `update pets set status = 'fostered' where id = ${pets.newer}`,
  `update orders set ship_date = 'infinity' where id = ${orders.newer}`,
  `create function leave_out() returns trigger language plpgsql as $$
     begin return case when new.name like 'newer%' then null else new end; end $$`,
  'create table written (value text)',
  `create function record() returns trigger language plpgsql as $$
     begin insert into written select coalesce(to_jsonb(new)->>'quantity', to_jsonb(new)->>'name'); return null; end $$`,
  ...['categories', 'pets'].map(
    (table) => `create trigger leave_out before insert on ${table} for each row execute function leave_out()`,
  ),
  ...['categories', 'pets', 'orders', 'inventory'].map(
    (table) => `create trigger record after insert or update on ${table} for each row execute function record()`,
  ),
])
  await app.sql(sql);

const write = fc.record({
  what: fc.constantFrom('newOrder', 'newCategory', 'newPet', 'order', 'petOfOrder', 'pet', 'stock'),
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Kind>('known') },
    { weight: 1, arbitrary: fc.constant<Kind>('newer') },
  ),
  isKeyed: fc.boolean(),
  overGraphQL: fc.boolean(),
});
type Kind = keyof typeof pets;
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

/** The request, with a value of its own. In GraphQL its input is the body and what the URL names. */
function requestOf({ what, kind }: Write, quantity: number, name: string) {
  const [petId, id] = [pets[kind], orders[kind]];
  const of = (url: string, body: object, field: string, selection: string, named = {}) => {
    const [method = 'POST', path = ''] = url.split(' ');
    return { method: method as 'POST' | 'PATCH', path, body, field, selection, input: { ...named, ...body } };
  };
  switch (what) {
    case 'newOrder':
      return of('POST /store/orders', { petId, quantity }, 'createOrder', 'order { id pet { name } }');
    case 'newCategory':
      return of('POST /categories', { name }, 'createCategory', 'category { id }');
    case 'newPet':
      return of('POST /pets', { name, categoryId: 1 }, 'createPet', 'pet { id category { name } }');
    case 'order':
      return of(`PATCH /store/orders/${id}`, { quantity }, 'updateOrder', 'order { id }', { id });
    case 'petOfOrder': {
      const order = { id: orders.known };
      const changes = { petId, quantity };
      return of(`PATCH /store/orders/${order.id}`, changes, 'updateOrder', 'order { id pet { name } }', order);
    }
    case 'pet':
      return of(`PATCH /pets/${petId}`, { name }, 'updatePet', 'pet { id }', { id: petId });
    case 'stock':
      return of(`PATCH /inventory/${petId}`, { quantity }, 'updateInventory', 'inventoryItem { quantity }', { petId });
  }
}

let sent = 0;

/** Its value, and whether the response says that it was carried out. */
async function send(each: Write): Promise<readonly [value: string, isCarriedOut: boolean]> {
  const n = (sent += 1);
  const name = `${each.kind} ${n}`;
  const { method, path, body, field, selection, input } = requestOf(each, n, name);
  const headers = each.isKeyed ? { 'idempotency-key': `key ${n}` } : {};
  const typeName = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const query = `mutation ($input: ${typeName}!) { ${field}(input: $input) { ${selection} } }`;
  const response = each.overGraphQL
    ? await app.ask('POST', '/graphql', { query, variables: { input } }, headers)
    : await app.ask(method, path, body, headers);
  const isCarriedOut = response.status < 300 && (!each.overGraphQL || response.body.data[field] !== null);
  return ['name' in body ? name : String(n), isCarriedOut];
}

it('is carried out once when its response says so and otherwise never, whatever others beside it can’t be read', async () => {
  console.info({ seed });
  const batches = fc.asyncProperty(fc.array(write, { minLength: 20, maxLength: 20 }), async (batch) => {
    const outcomes = await Promise.all(batch.map(send));
    // What is only related to a row that can't be read is written.
    const expected = batch.map(({ what, kind }) => kind === 'known' || what === 'newOrder' || what === 'petOfOrder');
    expect(outcomes.map(([, isCarriedOut]) => isCarriedOut)).toEqual(expected);
    const values = outcomes.map(([value]) => value);
    const written = await app.sql('select value from written where value = any($1)', [values]);
    const times = values.map((value) => written.filter((row) => row['value'] === value).length);
    expect(times).toEqual(expected.map((isCarriedOut) => (isCarriedOut ? 1 : 0)));
  });
  await fc.assert(batches, { seed, numRuns: 20, endOnFailure: true });
}, 60_000);

it('a row is written whose value of a newer version is the one that changes', async () => {
  const { id } = await app.pet();
  await app.sql(`update pets set status = 'fostered' where id = $1`, [id]);
  expect((await app.ask('PATCH', `/pets/${id}`, { name: 'Vix' })).status).toBe(503);
  const { status, body } = await app.ask('PATCH', `/pets/${id}`, { status: 'sold' });
  expect([status, body.name, body.status]).toEqual([200, 'Rex', 'sold']);
});

it('a related row that can’t be read nulls the field that shows it, and nothing else', async () => {
  const { id } = (await app.ask('POST', '/store/orders', { petId: pets.newer })).body;
  const nodes = `orders(last: 2) { nodes { id quantity pet { name } } }`;
  const { data, errors } = await app.graphql(`{ order(id: ${id}) { id pet { name } } ${nodes} }`);
  expect(data.order).toEqual({ id: String(id), pet: null });
  expect(data.orders.nodes[1]).toEqual({ id: String(id), quantity: null, pet: null });
  expect(errors.map(({ path, extensions: { code } }) => [path?.at(-1), code])).toContainEqual([
    'pet',
    'SERVICE_UNAVAILABLE',
  ]);
});

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Of the places in a JSON value, one has another value, or none. */
function changed(value: Json, at: number, other: Json | undefined): Json | undefined {
  const paths: (readonly string[])[] = [];
  const visit = (each: Json, path: readonly string[]): void => {
    paths.push(path);
    if (typeof each === 'object' && each !== null && !Array.isArray(each))
      for (const [name, below] of Object.entries(each)) visit(below, [...path, name]);
  };
  visit(value, []);
  const set = (each: Json, [name, ...rest]: readonly string[]): Json | undefined =>
    name === undefined
      ? other
      : JSON.parse(JSON.stringify({ ...(each as object), [name]: set((each as Record<string, Json>)[name]!, rest) }));
  return set(value, paths[at % paths.length]!);
}

const results = [
  'createPet(input: { name: "Rex", categoryId: 1 }) { pet { id name status version nodeId category { name } orders { totalCount } } }',
  'updatePet(input: { id: 1, status: SOLD }) { pet { id status version inventory { status } } }',
  'createOrder(input: { petId: 1, shipDate: "2026-12-24T10:00:00Z" }) { order { id shipDate version complete } }',
  'updateInventory(input: { petId: 1, quantity: 3 }) { inventoryItem { status quantity version } }',
];
/** Ids of no row, and headers that no response may have. */
const unusable: readonly Json[] = [
  'x',
  '99999999999999999999',
  { trailer: 'x' },
  { 'content-length': '3' },
  { etag: 7 },
];
/** Of the records that are read. */
const fields = { rest: '/', field: 'w', atomic: 'w' } as const;

it('a stored result that can’t be read is 503, with one line in the log that names it; any other is replayed', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom('rest', 'field', 'atomic'),
    fc.constantFrom(...results),
    fc.nat(100),
    fc.oneof(fc.jsonValue(), fc.constantFrom('fostered', '2026-12-24', 'yes', 1e12, undefined, ...unusable)),
    async (kind, result, at, other) => {
      const key = `result ${(sent += 1)}`;
      const [path, request] =
        kind === 'rest'
          ? ['/pets', { name: 'Rex', categoryId: 1 }]
          : ['/graphql', { query: `mutation ${kind === 'atomic' ? '@atomic ' : ''}{ w: ${result} }` }];
      const ask = () => app.ask('POST', path, request, { 'idempotency-key': key });
      const first = await ask();
      const where = `where key = $1 and field = '${fields[kind]}'`;
      const [row] = await app.sql(`select result as stored from idempotency_records ${where}`, [key]);
      const stored = changed(row!['stored'] as Json, at, other as Json | undefined);
      await app.sql(`update idempotency_records set result = $2 ${where}`, [key, JSON.stringify(stored ?? {})]);
      app.log.length = 0;
      const { status, headers, body } = await ask();
      if (status === 503) {
        expect(headers['retry-after']).toBeDefined();
        expect(app.log).toMatchObject([{ level: 40, err: { cause: { message: expect.stringContaining(key) } } }]);
      } else {
        expect([status, app.log]).toEqual([first.status, []]);
        if (kind !== 'rest') expect(body).toMatchObject({ data: { w: {} }, extensions: { replayed: ['w'] } });
      }
    },
  );
  const places = [['rest', 3] as const, ...[2, 5].flatMap((at) => [['field', at] as const, ['atomic', at] as const])];
  const examples = places.flatMap(([kind, at]) =>
    unusable.map((other): [keyof typeof fields, string, number, Json] => [kind, results[0]!, at, other]),
  );
  await fc.assert(property, { seed, numRuns: 60 + examples.length, endOnFailure: true, examples });
}, 120_000);

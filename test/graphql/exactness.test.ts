import { describe, expect, it } from '@jest/globals';

import { operationKey, type KnownOperation, Documents } from '../../src/graphql/pipeline/documents.ts';
import { Accounts } from '../../src/platform/callers/index.ts';
import { startTestApp } from '../support/test-app.ts';
import { startSampleServer } from './sample-server.ts';

const rounded = [
  '9007199254740993.0',
  '9.007199254740993e15',
  '9007199254740993.5',
  '4503599627370497.5',
  '4.5035996273704975e15',
];
const longInteger = '12345678901234567890';

const sample = await startSampleServer();
const rest = await startTestApp();
await rest.sql(`insert into categories (id, name) values (9007199254740992, 'Neighbour'), (9007199254740994, 'Other'),
  (9007199254740993, 'Meant'), (4503599627370498, 'Even')`);

const json = { 'content-type': 'application/json' };
const body = (query: string, variables: string) => `{"query":${JSON.stringify(query)},"variables":${variables}}`;

describe('a number that a double would round', () => {
  it.each(rounded)('names no row, by either protocol: %s', async (literal) => {
    const query = 'query ($id: ID!) { category(id: $id) { name } }';
    for (let time = 0; time < 3; time += 1) {
      const { status, body: answer } = await rest.ask('POST', '/graphql', body(query, `{"id":${literal}}`));
      expect({ status, error: answer.errors[0] }).toMatchObject({
        status: 400,
        error: { message: expect.stringContaining(literal), extensions: { code: 'BAD_USER_INPUT' } },
      });
    }
    const created = await rest.ask('POST', '/pets', `{"name":"Rex","categoryId":${literal}}`);
    expect(created).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    const input = `{"input":{"name":"Rex","categoryId":${literal}}}`;
    const mutation = 'mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { id } } }';
    expect((await rest.ask('POST', '/graphql', body(mutation, input))).status).toBe(400);
    expect(await rest.sql('select 1 from pets')).toHaveLength(0);
  });

  it('stays exact as an id when it is written as an integer, in lists and input objects too', async () => {
    const query = 'query ($ids: [ID!]) { pets(filter: { categoryIdIn: $ids }) { totalCount } }';
    expect((await rest.ask('POST', '/graphql', body(query, '{"ids":[9007199254740993]}'))).status).toBe(200);
    const one = 'query ($id: ID!) { category(id: $id) { name } }';
    const { body: answer } = await rest.ask('POST', '/graphql', body(one, '{"id":9007199254740993}'));
    expect(answer).toEqual({ data: { category: { name: 'Meant' } } });
  });

  it('is no text, no input object and no list of texts', async () => {
    for (const [query, variables] of [
      ['query ($text: String) { echo(text: $text) }', `{"text":${longInteger}}`],
      ['query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }', `{"filter":${longInteger}}`],
      [
        'query ($status: [Status!]) { pets(filter: { statusIn: $status }) { totalCount } }',
        `{"status":[${longInteger}]}`,
      ],
      ['query ($day: Day) { pets(filter: { bornFrom: $day }) { totalCount } }', `{"day":${longInteger}}`],
      ['query ($n: Int) { pets(first: $n) { totalCount } }', `{"n":${longInteger}}`],
    ] as const) {
      const { statusCode, payload } = await sample.post(body(query, variables));
      expect({ query, statusCode, payload }).toMatchObject({
        statusCode: 400,
        payload: expect.stringContaining('BAD_USER_INPUT'),
      });
    }
  });

  it.each(['query', 'operationName', 'variables'])('is as wrong as a short one in %s', async (name) => {
    const parameters = { query: '"query A { __typename }"', operationName: '"A"', variables: '{}' };
    const send = (literal: string) => {
      const members = Object.entries({ ...parameters, [name]: literal }).map(([key, value]) => `"${key}":${value}`);
      return sample.post(`{${members.join(',')}}`);
    };
    const [short, long] = [await send('123'), await send(longInteger)];
    expect([long.statusCode, long.payload]).toEqual([400, short.payload]);
  });
});

it('treats percent-encoded digits in the variables of a GET like others, cold and warm', async () => {
  const query = encodeURIComponent('query ($id: ID!) { category(id: $id) { name } }');
  const digits = '9007199254740993'.replaceAll(/\d/g, '%3$&');
  for (const variables of [`{"id":${digits}}`, '{"id":9007199254740993}']) {
    for (let time = 0; time < 3; time += 1) {
      const url = `/graphql?query=${query}&variables=${encodeURI(variables).replaceAll('%25', '%')}`;
      expect((await rest.ask('GET', url)).body).toEqual({ data: { category: { name: 'Meant' } } });
    }
  }
});

it('finds no operation of another document, whatever is in a comment or a name', () => {
  const cache = new Documents(new Accounts());
  const operation = { prepared: { maxVariants: 1 }, fieldCount: 1 } as KnownOperation;
  for (let time = 0; time < 2; time += 1) cache.add(operationKey('T', 'A'), operation);
  expect(cache.find(operationKey('T', 'A'))).toBe(operation);
  for (const [text, name] of [
    ['T\0A', undefined],
    ['A\0T', undefined],
    ['1:AT', undefined],
    ['', 'AT'],
    ['AT', ''],
  ] as const) {
    expect(cache.find(operationKey(text, name))).toBeUndefined();
  }
});

it('refuses bodies that are not UTF-8, and ignores a byte order mark, in both protocols', async () => {
  const graphql =
    '{"query":"mutation { createCategory(input: { name: "Bytes ?" }) { category { name } } }"}'.replaceAll(
      '"Bytes ?"',
      '\\"Bytes ?\\"',
    );
  for (const [url, text, status] of [
    ['/graphql', graphql, 200],
    ['/categories', '{"name":"Bytes ?"}', 201],
  ] as const) {
    const bytes = Buffer.from(text);
    const bad = Buffer.from(bytes);
    bad[bad.indexOf('?')] = 0xff;
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    expect([url, (await rest.ask('POST', url, bad, json)).status]).toEqual([url, 400]);
    expect([url, (await rest.ask('POST', url, marked, json)).status]).toEqual([url, status]);
  }
  const rows = await rest.sql(`select name from categories where name like 'Bytes%'`);
  expect(rows.map(({ name }) => name)).toEqual(['Bytes ?', 'Bytes ?']);
});

describe('a mutation that loses the database', () => {
  const query = (...fields: string[]) => ({ query: `mutation { ${fields.join(' ')} }` });
  const create = 'createPet(input: { name: "Rex" }) { pet { id } }';
  const lost = 'lost: fail(how: UNAVAILABLE)';

  it('is 200 once a root field was carried out, so that no client repeats that one', async () => {
    for (const fields of [
      [create, lost],
      [create, lost, '__typename'],
    ]) {
      const response = await sample.post(query(...fields));
      expect([response.statusCode, response.headers['retry-after']]).toEqual([200, undefined]);
      expect(response.json().errors[0].extensions).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryAfter: expect.any(Number),
      });
    }
  });

  it('is 503 with Retry-After while none was', async () => {
    for (const fields of [[lost], [lost, '__typename'], [lost, 'also: fail(how: CONFLICT)']]) {
      const response = await sample.post(query(...fields));
      expect([response.statusCode, response.headers['retry-after']]).toEqual([503, expect.any(String)]);
    }
  });
});

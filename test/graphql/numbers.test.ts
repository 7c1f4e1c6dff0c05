import { describe, expect, it } from '@jest/globals';

import { startSampleServer } from './sample-server.ts';

const sample = await startSampleServer();

const big = '9007199254740993';
const longInteger = '12345678901234567890';
const byId = 'query ($id: ID) { echo(id: $id) }';

/** Sends the query with variables as they are written. */
const post = (query: string, variables: string) =>
  sample.post(`{"query":${JSON.stringify(query)},"variables":${variables}}`);

describe('ids that are JSON numbers', () => {
  it.each(['1', '9007199254740991', big, '9223372036854775807', '-9007199254740993', '9223372036854775808'])(
    'reach the ID exactly: %s',
    async (id) => {
      expect((await post(byId, `{"id":${id}}`)).json()).toEqual({ data: { echo: id } });
      const byGet = await sample.get({ query: byId, variables: `{"id":${id}}` });
      expect(byGet.json()).toEqual({ data: { echo: id } });
      expect((await sample.post({ query: `{ echo(id: ${id}) }` })).json()).toEqual({ data: { echo: id } });
    },
  );

  it('may be in lists and input objects', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(nodeIds: $ids) { id } }';
    expect((await post(query, `{"ids":[${big},1]}`)).json()).toEqual({ data: { nodes: [null, null] } });
    const mutation = 'mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { motherId } } }';
    const created = await post(mutation, `{"input":{"name":"Rex","motherId":${big}}}`);
    expect(created.json().data.createPet.pet).toEqual({ motherId: big });
  });

  it('leave strings of digits alone, and are no Int', async () => {
    const query = 'query ($id: ID, $n: Int) { echo(id: $id) pets(first: $n) { totalCount } }';
    expect((await post(query, `{"id":"${big}","n":${big}}`)).json().errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      violations: [{ field: 'first' }],
    });
  });

  it.each([
    '9007199254740993.0',
    '9.007199254740993e15',
    '9007199254740993.5',
    '4503599627370497.5',
    '4.5035996273704975e15',
  ])('name nothing where a double would round them, cold and warm: %s', async (literal) => {
    const mutation = 'mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { id } } }';
    const before = sample.created.length;
    for (let time = 0; time < 3; time += 1) {
      for (const response of [
        await post(byId, `{"id":${literal}}`),
        await post(mutation, `{"input":{"name":"Rex","motherId":${literal}}}`),
      ]) {
        expect(response.statusCode).toBe(400);
        expect(response.json().errors).toMatchObject([
          { message: expect.stringContaining(literal), extensions: { code: 'BAD_USER_INPUT' } },
        ]);
      }
    }
    expect(sample.created).toHaveLength(before);
  });
});

it.each([
  ['text', 'query ($text: String) { echo(text: $text) }', `{"text":${longInteger}}`],
  ['input object', 'query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }', `{"filter":${longInteger}}`],
  [
    'list of texts',
    'query ($status: [Status!]) { pets(filter: { statusIn: $status }) { totalCount } }',
    `{"status":[${longInteger}]}`,
  ],
  ['Day', 'query ($day: Day) { pets(filter: { bornFrom: $day }) { totalCount } }', `{"day":${longInteger}}`],
  ['Int', 'query ($n: Int) { pets(first: $n) { totalCount } }', `{"n":${longInteger}}`],
])('a long integer is no %s', async (_what, query, variables) => {
  const response = await post(query, variables);
  expect([response.statusCode, response.json().errors[0].extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
});

it.each(['query', 'operationName', 'variables'])('a long integer is as wrong as a short one in %s', async (name) => {
  const parameters = { query: '"query A { __typename }"', operationName: '"A"', variables: '{}' };
  const send = (literal: string) => {
    const members = Object.entries({ ...parameters, [name]: literal }).map(([key, value]) => `"${key}":${value}`);
    return sample.post(`{${members.join(',')}}`);
  };
  const [short, long] = [await send('123'), await send(longInteger)];
  expect([long.statusCode, long.payload]).toEqual([400, short.payload]);
});

it('percent-encoded digits in the variables of a GET are like others, cold and warm', async () => {
  const digits = big.replaceAll(/\d/g, '%3$&');
  for (const variables of [`{"id":${digits}}`, `{"id":${big}}`]) {
    const url = `/graphql?query=${encodeURIComponent(byId)}&variables=${encodeURI(variables).replaceAll('%25', '%')}`;
    for (let time = 0; time < 3; time += 1) {
      const response = await sample.server.inject({ url, headers: { 'x-api-key': 'any' } });
      expect(response.json()).toEqual({ data: { echo: big } });
    }
  }
});

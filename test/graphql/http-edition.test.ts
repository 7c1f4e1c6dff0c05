import { describe, expect, it } from '@jest/globals';
import type { LightMyRequestResponse } from 'fastify';

import { startSampleServer } from './sample-server.ts';

// The sentences of the chapter "Response" of GraphQL over HTTP, first edition, about what a server answers. Where it
// recommends 422, this service has 400, as REST has. `http.test.ts` has the refusals that come before GraphQL.

const sample = await startSampleServer();

const graphqlType = 'application/graphql-response+json';
const lost = 'lost: fail(how: UNAVAILABLE)';
const isCreated = 'createPet(input: { name: "Rex" }) { pet { id } }';
const unknownHash = { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } };

const send = (body: unknown, accept = graphqlType): Promise<LightMyRequestResponse> => sample.post(body, { accept });

const typeOf = ({ headers }: LightMyRequestResponse) => headers['content-type'];

/** Status, members of the body and `Retry-After` of a response in the media type that was asked for. */
async function outcome(body: unknown, accept: string): Promise<unknown[]> {
  const response = await send(body, accept);
  expect(typeOf(response)).toBe(`${accept}; charset=utf-8`);
  return [response.statusCode, Object.keys(response.json()), response.headers['retry-after']];
}

describe('Body', () => {
  it('is of the media type that Accept prefers, which Content-Type names with its encoding', async () => {
    for (const [accept, type] of [
      [graphqlType, graphqlType],
      [`${graphqlType}, application/json;q=0.9`, graphqlType],
      [`application/json;q=0.9, ${graphqlType}`, graphqlType],
      [`application/json, ${graphqlType};q=0.9`, 'application/json'],
      ['application/json', 'application/json'],
    ] as const) {
      const response = await send({ query: '{ echo }' }, accept);
      expect([accept, typeOf(response)]).toEqual([accept, `${type}; charset=utf-8`]);
    }
  });

  it('is 406 when Accept allows neither', async () => {
    expect((await send({ query: '{ echo }' }, 'text/plain')).statusCode).toBe(406);
  });
});

describe('Status Codes', () => {
  it('data without errors is 200', async () => {
    expect(await outcome({ query: '{ echo }' }, graphqlType)).toEqual([200, ['data'], undefined]);
  });

  it.each([
    ['a query with a failed field', '{ echo fail(how: CONFLICT) }', undefined],
    ['a query whose only field has failed', '{ fail(how: NOT_FOUND) }', undefined],
    ['a query whose data is null', '{ nodes(nodeIds: ["1"]) { id } failures(count: 1) }', undefined],
    ['a query that loses the database after a field has its value', `{ echo(text: "a") ${lost} }`, '5'],
    ['a mutation that loses the database after a field was carried out', `mutation { ${isCreated} ${lost} }`, '5'],
  ])('data beside errors is 294 Partial Success: %s', async (_name, query, retryAfter) => {
    expect(await outcome({ query }, graphqlType)).toEqual([294, ['errors', 'data'], retryAfter]);
    expect((await send({ query })).statusMessage).toBe('Partial Success');
    // Clients that ask for JSON know 200 alone.
    expect(await outcome({ query }, 'application/json')).toEqual([200, ['errors', 'data'], undefined]);
  });

  it.each([
    ['no JSON', '{"query":', 400],
    ['a body that is no GraphQL over HTTP', { qeury: '{ __typename }' }, 400],
    ['variables of another form', { query: 'query ($i: Int) { total(number: $i) }', variables: [7] }, 400],
    ['a document that is not parsed', { query: '{' }, 400],
    ['a document that is not valid', { query: '{ unknown }' }, 400],
    ['an operation that is not determined', { query: 'query A { echo } query B { echo }' }, 400],
    ['variables that are not coerced', { query: 'query ($i: Int!) { total(number: $i) }', variables: { i: 'x' } }, 400],
    ['a body that is too large', { query: ' '.repeat(1_048_576) }, 413],
  ])('no data is a 4xx: %s', async (_name, body, status) => {
    for (const accept of [graphqlType, 'application/json'])
      expect(await outcome(body, accept)).toEqual([status, ['errors'], undefined]);
  });

  it.each([
    ['hash', unknownHash],
    ['id', { documentId: 'f'.repeat(64) }],
  ])('no data is a 4xx: an unknown %s, which is 200 for clients of JSON', async (_name, body) => {
    expect(await outcome(body, graphqlType)).toEqual([400, ['errors'], undefined]);
    expect(await outcome(body, 'application/json')).toEqual([200, ['errors'], undefined]);
    expect((await send(body)).json()).toEqual((await send(body, 'application/json')).json());
  });

  it.each([
    ['a query', `{ ${lost} }`],
    ['a query in which nothing has a value', `{ ${lost} pet(id: 1) { id } also: fail(how: CONFLICT) }`],
    ['a mutation of which nothing was carried out', `mutation { ${lost} also: fail(how: CONFLICT) }`],
  ])('no data is a 503 with Retry-After when the database is gone: %s', async (_name, query) => {
    for (const accept of [graphqlType, 'application/json']) {
      expect(await outcome({ query }, accept)).toEqual([503, ['errors'], '5']);
      const [error] = (await send({ query }, accept)).json().errors;
      expect(error).toMatchObject({ path: ['lost'], extensions: { code: 'SERVICE_UNAVAILABLE', retryAfter: 5 } });
    }
  });

  it('405 has Allow: a mutation by GET, and another method', async () => {
    const byGet = await sample.get({ query: 'mutation { fail(how: BUG) }' }, { accept: graphqlType });
    const byPut = await sample.server.inject({ method: 'PUT', url: '/graphql', headers: { accept: graphqlType } });
    for (const { statusCode, headers } of [byGet, byPut])
      expect([statusCode, headers['allow']]).toEqual([405, expect.stringContaining('POST')]);
  });

  it('415 is a body that is no JSON', async () => {
    const response = await sample.post('{ echo }', { accept: graphqlType, 'content-type': 'application/graphql' });
    expect([response.statusCode, typeOf(response)]).toEqual([415, `${graphqlType}; charset=utf-8`]);
  });
});

it('a result as the only event of a stream is 200, whatever it holds', async () => {
  for (const body of [{ query: '{ echo fail(how: CONFLICT) }' }, unknownHash]) {
    const response = await send(body, 'text/event-stream');
    expect([response.statusCode, response.headers['retry-after']]).toEqual([200, undefined]);
    expect(response.body).toMatch(/^event: next\ndata: \{"errors"/);
  }
});

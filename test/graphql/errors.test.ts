import { mock } from 'node:test';

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LightMyRequestResponse } from 'fastify';

import { PreparedOperation } from '../../src/platform/executor/operation.ts';
import { internalText, startSampleServer } from './sample-server.ts';

const sample = await startSampleServer();

beforeEach(() => {
  sample.log.length = 0;
});

const post = (query: string, variables: Record<string, unknown> = {}): Promise<LightMyRequestResponse> =>
  sample.post({ query, variables });

/** The fields that are named, of all errors together. */
function fieldsOf(response: LightMyRequestResponse): string[] {
  const errors: { extensions: { violations?: { field: string }[] } }[] = response.json().errors;
  return errors.flatMap(({ extensions }) => (extensions.violations ?? []).map(({ field }) => field));
}

function expectBadInput(response: LightMyRequestResponse, ...fields: string[]): void {
  expect(response.json().errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  expect(fieldsOf(response)).toEqual(fields);
  expect(response.statusCode).toBe(400);
  expect(response.json()).not.toHaveProperty('data');
}

const create = 'mutation ($input: CreatePetInput!) { createPet(input: $input) { pet { id } } }';
const list = 'query ($filter: PetFilter) { pets(filter: $filter) { totalCount } }';

describe('a bad variable is BAD_USER_INPUT and names its field', () => {
  const cases: [query: string, variables: Record<string, unknown>, ...fields: string[]][] = [
    [create, { input: { name: 7 } }, 'name'],
    [create, { input: { name: null } }, 'name'],
    [create, { input: { age: 1 } }, 'name'],
    [create, { input: { name: 'Rex', nam: 1 } }, 'nam'],
    [create, { input: { name: 'Rex', age: 2 ** 31 } }, 'age'],
    [create, { input: { name: 'Rex', age: 1.5 } }, 'age'],
    [create, { input: { name: 'Rex', status: 'SOL' } }, 'status'],
    [create, { input: { name: 'Rex', born: '2026' } }, 'born'],
    [create, { input: { name: 7, age: 'x', status: 1 } }, 'name', 'age', 'status'],
    [create, { input: 'Rex' }, 'input'],
    [create, { input: null }, 'input'],
    [create, {}, 'input'],
    [create.replaceAll('$input', '$data'), { data: { age: 'x', name: 'Rex' } }, 'age'],
    [list, { filter: { statusIn: ['AVAILABLE', 'LOST'] } }, 'filter.statusIn'],
    [list, { filter: { bornFrom: 5 } }, 'filter.bornFrom'],
    [list, { filter: { and: { and: { bornFrom: 5 } } } }, 'filter.and.and.bornFrom'],
    [list, { filter: [] }, 'filter'],
    ['query ($day: Day) { pets(filter: { bornFrom: $day }) { totalCount } }', { day: 'x' }, 'filter.bornFrom'],
    ['query ($n: Int) { pets(first: $n) { totalCount } }', { n: '2' }, 'first'],
    ['query ($n: Int) { ...F } fragment F on Query { pets(first: $n) { totalCount } }', { n: '2' }, 'first'],
    ['query ($name: String!) { echo(text: $name) }', {}, 'text'],
    ['query ($name: String!) { echo(text: $name) }', { name: null }, 'text'],
    ['query ($name: String!) { echo(text: $name) }', { name: { a: '; at "name.x"' } }, 'text'],
  ];

  it.each(cases)('%s %j: %s', async (query, variables, ...fields) => {
    expectBadInput(await post(query, variables), ...fields);
  });

  it('also where it only shows while its field is executed', async () => {
    const response = await post('query ($n: Int = 1) { total(number: $n) }', { n: null });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({
      data: { total: null },
      errors: [
        { path: ['total'], extensions: { code: 'BAD_USER_INPUT', status: 400, violations: [{ field: 'number' }] } },
      ],
    });
    expect(sample.log).toEqual([]);
  });

  it('stops at 50 of them', async () => {
    const response = await post(list, { filter: { statusIn: Array(9_000).fill('LOST') } });
    expect(fieldsOf(response)).toHaveLength(50);
  });
});

describe('a bad value in the document is BAD_USER_INPUT and names its field', () => {
  const cases: [query: string, ...fields: string[]][] = [
    ['{ pets(first: "2") { totalCount } }', 'first'],
    ['{ pets(first: 99999999999) { totalCount } }', 'first'],
    ['{ pets(filter: { statusIn: [AVAILABLE, LOST] }) { totalCount } }', 'filter.statusIn'],
    ['{ pets(filter: { statusIn: null, bornFrom: "2026" }) { totalCount } }', 'filter.bornFrom'],
    ['{ pets(filter: { and: { bornFrom: 5 } }) { totalCount } }', 'filter.and.bornFrom'],
    ['{ pets(filter: { bornfrom: "2026-11-21" }) { totalCount } }', 'filter.bornfrom'],
    ['{ pets(filter: true) { totalCount } }', 'filter'],
    ['{ pet(id: null) { id } }', 'id'],
    ['{ pet(id: 1.5) { id } }', 'id'],
    ['mutation { createPet(input: { age: 1 }) { pet { id } } }', 'name'],
    ['mutation { createPet(input: { name: 7, age: "x" }) { pet { id } } }', 'name', 'age'],
    ['query ($first: Int = "x") { pets(first: $first) { totalCount } }', 'first'],
    ['query ($filter: PetFilter = { statusIn: LOST }) { pets(filter: $filter) { totalCount } }', 'filter.statusIn'],
    ['{ a: echo(text: "fine") b: echo(text: 5) }', 'text'],
  ];

  it.each(cases)('%s: %s', async (query, ...fields) => {
    expectBadInput(await post(query), ...fields);
  });
});

describe('what is wrong with the document itself keeps the codes of Apollo', () => {
  it.each([
    ['{ pet(id: 1) { id ', 'GRAPHQL_PARSE_FAILED'],
    ['{ pet(id: 1) { nam } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ pet { id } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ pet(id: $id) { id } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['query ($id: Int!) { pet(id: $id) { id } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ pet(id: 1, idd: 2) { id } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }', 'GRAPHQL_VALIDATION_FAILED'],
    ['query A { echo } query B { echo }', 'OPERATION_RESOLUTION_FAILURE'],
  ])('%s: %s', async (query, code) => {
    const response = await post(query);
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions).toEqual({ code, status: 400 });
    expect(sample.log).toEqual([]);
  });

  const typos: [query: string, variables?: Record<string, unknown>][] = [
    ['{ pet(id: 1) { nam } }'],
    ['{ pet(id: 1, idd: 2) { id } }'],
    ['{ pets(filter: { bornfrom: "2026-11-21" }) { totalCount } }'],
    [create, { input: { name: 'Rex', nam: 1 } }],
    [create, { input: { name: 'Rex', status: 'SOL' } }],
  ];

  // And never where the schema is hidden: `documents/hidden-schema.test.ts`.
  it.each(typos)('helps with what was meant: %s', async (query, variables = {}) => {
    expect((await post(query, variables)).body).toMatch(/Did you mean/);
  });

  it.each(typos.slice(-2))(
    'does not look for what was meant in variables of more than 64 KiB: %s',
    async (query, variables) => {
      const response = await post(query, { ...variables, undeclared: 'x'.repeat(64 * 1024) });
      expect([response.statusCode, response.json().errors[0].message]).toEqual([400, expect.stringMatching(/\w/)]);
      expect(response.body).not.toMatch(/did you mean/i);
      expect((await post(query, variables)).body).toMatch(/Did you mean/);
    },
  );

  it('stops after a few errors', async () => {
    const { errors } = (await post(`{ echo ${'@unknown '.repeat(10)} }`)).json();
    expect(errors).toHaveLength(6);
    expect(errors[5].message).toMatch(/^Too many validation errors/);
  });

  it('stays short, however long what it repeats', async () => {
    const long = 'x'.repeat(60_000);
    for (const [query, variables] of [
      [`{ ${long} }`],
      [`{ pets(first: "${long}") { totalCount } }`],
      ['query ($first: Int) { pets(first: $first) { totalCount } }', { first: long }],
      [list, { filter: { [long]: long, bornFrom: long } }],
      ['mutation { fail(how: CONFLICT) }'],
    ] as [string, Record<string, unknown>?][]) {
      const { errors } = (await post(query, variables)).json();
      expect(errors[0].message.length).toBeGreaterThan(20);
      expect(JSON.stringify(errors).length).toBeLessThan(4000);
    }
  });
});

describe('a refusal by a field', () => {
  it('is HTTP 200 with the code and the status that REST would give', async () => {
    const response = await post('mutation { fail(how: NOT_FOUND) other: fail(how: CONFLICT) }');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({
      data: { fail: null, other: null },
      errors: [
        {
          message: 'There is no pet with the id "42".',
          path: ['fail'],
          extensions: { code: 'NOT_FOUND', status: 404 },
        },
        { path: ['other'], extensions: { code: 'CONFLICT', status: 409 } },
      ],
    });
    expect(sample.log).toEqual([]);
  });

  it('is a line of the log when the database is gone, and no internal text for the client', async () => {
    const response = await post('{ echo(text: "still here") fail(how: UNAVAILABLE) }');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.json()).toMatchObject({
      data: { echo: 'still here', fail: null },
      errors: [{ path: ['fail'], extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, retryAfter: 5 } }],
    });
    expect(response.body).not.toContain('ECONNREFUSED');
    expect(sample.log).toMatchObject([{ level: 40, requestId: response.headers['x-request-id'] }]);
    expect(JSON.stringify(sample.log)).toContain('ECONNREFUSED');
  });

  it('is masked when it is unexpected, and logged whole under the request id', async () => {
    const response = await sample.post({ query: '{ fail(how: BUG) }' }, { 'x-request-id': 'the-request-1' });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({
      data: { fail: null },
      errors: [{ path: ['fail'], extensions: { code: 'INTERNAL_SERVER_ERROR', status: 500 } }],
    });
    expect(response.body).not.toMatch(/relation|secret|TypeError|stack|node_modules/);
    expect(response.headers['x-request-id']).toBe('the-request-1');
    expect(sample.log).toMatchObject([{ level: 50, requestId: 'the-request-1', err: { type: 'TypeError' } }]);
    expect(JSON.stringify(sample.log[0])).toContain(JSON.stringify(internalText).slice(1, -1));
    expect((sample.log[0]!['err'] as { stack: string }).stack).toContain('sample-server.ts');
  });

  it('is masked too where graphql-js itself finds the fault', async () => {
    const response = await post('{ pets { edges { node { id } } totalCount } total(number: 3000000000) }');
    expectBadInput(response, 'number');
    const result = await post('query ($text: String) { total(number: 4) echo(text: $text) }');
    expect(result.json()).toEqual({ data: { total: 4, echo: null } });
  });
});

it('a fault of ours before any field is executed is a 500, masked and logged', async () => {
  const run = mock.method(PreparedOperation.prototype, 'run', () => Promise.reject(new TypeError(internalText)));
  const response = await post('{ echo }');
  run.mock.restore();
  expect(response.statusCode).toBe(500);
  expect(response.json()).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR', status: 500 } }] });
  expect(response.body).not.toMatch(/relation|secret/);
  expect(sample.log).toMatchObject([{ level: 50, err: { type: 'TypeError' } }]);
});

describe('a mutation that loses the database', () => {
  const query = (...fields: string[]) => ({ query: `mutation { ${fields.join(' ')} }` });
  const carriedOut = 'createPet(input: { name: "Rex" }) { pet { id } }';
  const lost = 'lost: fail(how: UNAVAILABLE)';

  it('is 200 once a root field was carried out, so that no client repeats that one', async () => {
    for (const fields of [
      [carriedOut, lost],
      [carriedOut, lost, '__typename'],
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

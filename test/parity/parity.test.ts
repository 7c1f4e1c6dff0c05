import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';
import { operationNamed } from './operations.ts';
import { acceptances, listRefusals, refusals } from './rules.ts';

interface Request {
  readonly operation: string;
  readonly id?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const app = await startTestApp();
await app.sql(`insert into categories (name, description) values ('Dogs', 'Loyal')`);
await app.sql(`insert into pets (name, category_id) values ('Rex', 1)`);
await app.sql('insert into inventory (pet_id, quantity) values (1, 5)');
await app.sql('insert into orders (pet_id, quantity, complete) values (1, 1, false), (null, 1, true)');

describe('REST and GraphQL refuse alike', () => {
  const codes = { VALIDATION_FAILED: 'BAD_USER_INPUT', NOT_FOUND: 'NOT_FOUND', CONFLICT: 'CONFLICT' } as const;

  it.each(refusals)('$rule ($operation)', async ({ code, fields, ...request }) => {
    const [rest, graphql] = [await askRest(request), await askGraphQL(request)];
    const [error] = graphql.errors;
    expect([rest.body.code, error?.extensions.code]).toEqual([code.toLowerCase(), codes[code]]);
    expect([rest.status, error?.extensions.status]).toEqual([rest.body.status, rest.body.status]);
    expect(fieldsIn(rest.body.message).toSorted()).toEqual(fields);
    expect(error?.extensions.violations?.map(({ field }) => field).toSorted() ?? []).toEqual(fields);
    if (code !== 'VALIDATION_FAILED') expect(rest.body.message).toBe(error?.message);
  });
});

describe('REST and GraphQL refuse alike a list that', () => {
  it.each(listRefusals)('$rule ($query)', async ({ url, field, query, argument }) => {
    const rest = await app.ask('GET', url);
    const { errors } = await app.graphql(`{ ${query} { pageInfo { endCursor } } }`);
    expect([rest.body.code, rest.status, fieldsIn(rest.body.message)]).toEqual(['validation_failed', 400, [field]]);
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
    expect(errors[0]?.extensions.violations?.map((violation) => violation.field)).toEqual([argument]);
  });

  it('is asked for by a cursor of another one', async () => {
    const { data } = await app.graphql('{ categories(first: 1) { pageInfo { endCursor } } }');
    const { endCursor } = data.categories.pageInfo;
    const own = await app.ask('GET', `/categories?cursor=${endCursor}`);
    const other = await app.ask('GET', `/pets?cursor=${endCursor}`);
    expect([own.status, other.status]).toEqual([200, 400]);
    expect((await app.graphql(`{ pets(after: "${endCursor}") { totalCount } }`)).codes).toEqual(['BAD_USER_INPUT']);
  });
});

describe('REST and GraphQL accept and store the same', () => {
  it.each(acceptances)('$rule ($operation)', async ({ stored, ...request }) => {
    const [rest, graphql] = [await askRest(request), await askGraphQL(request)];
    expect(graphql.errors).toEqual([]);
    const [made] = Object.values(graphql.data[request.operation] as Record<string, Fields>);
    expect(only(stored, rest.body as Fields)).toEqual(stored);
    expect(only(stored, asInRest(made!))).toEqual(stored);
  });
});

function askRest({ operation, id = '', input }: Request) {
  const { method, url } = operationNamed(operation);
  const path = url.replace(':id', encodeURIComponent(id));
  return app.ask(method, path, method === 'DELETE' ? undefined : withNumericIds(input));
}

function askGraphQL({ operation, id, input }: Request) {
  const { idField, result } = operationNamed(operation);
  const type = `${operation[0]!.toUpperCase()}${operation.slice(1)}Input`;
  const named = idField === undefined ? {} : { [idField]: id };
  const { status } = input;
  return app.graphql(`mutation ($input: ${type}!) { ${operation}(input: $input) { ${result} } }`, {
    input: { ...named, ...input, ...(typeof status === 'string' ? { status: status.toUpperCase() } : {}) },
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** The input as JSON with ids as integers, of whatever size. */
function withNumericIds(input: Fields): string {
  return JSON.stringify(input, (name, value: unknown) =>
    name.endsWith('Id') && typeof value === 'string' ? JSON.rawJSON(value) : value,
  );
}

function asInRest({ status, ...fields }: Fields): Fields {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return typeof status === 'string' ? { ...given, status: status.toLowerCase() } : given;
}

function only(names: Fields, fields: Fields): Fields {
  return Object.fromEntries(Object.keys(names).map((name) => [name, fields[name]]));
}

/** The fields that a message names. */
function fieldsIn(message: string): string[] {
  return [...message.matchAll(/(?:^|[.!] )(\w+): /g)].map(([, field]) => field!);
}

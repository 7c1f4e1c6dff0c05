import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { buildSchema, type GraphQLEnumType } from 'graphql';
import { parse } from 'yaml';

import { nouns } from '../../src/domain/nouns.ts';
import { errorTable } from '../../src/http/error-codes.ts';
import { startTestApp } from '../support/test-app.ts';

const { app } = await startTestApp();

const get = (url: string, headers: Record<string, string> = {}) => app.server.inject({ url, headers });

describe('the OpenAPI document', () => {
  it('has the version, the title and the operations of the contract', async () => {
    const document = (await get('/openapi.json')).json();
    expect([document.openapi, document.info.title, document.info.version]).toEqual(['3.0.3', 'Petstore API', '1.0.0']);
    const operations = Object.values<object>(document.paths).flatMap((item) => Object.values(item));
    const contract =
      'listPets createPet getPet updatePet deletePet listCategories createCategory getCategory updateCategory deleteCategory listOrders createOrder getOrder updateOrder cancelOrder listInventory getInventoryItem updateInventory listEvents';
    expect(operations.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(contract.split(' ')));
  });

  it('says how many entries a page has at most, and how long a cursor is', async () => {
    const { paths, components } = (await get('/openapi.json')).json();
    const { schema: events } = paths['/events'].get.responses['200'].content['application/json'];
    // The other lists come whole.
    expect([components.schemas.Pets.maxItems, events.maxItems]).toEqual([100, 100]);
    for (const path of ['/events', ...Object.values(nouns).map((noun) => noun.path)])
      expect(paths[path].get.parameters).toContainEqual(
        expect.objectContaining({ name: 'cursor', schema: { type: 'string', maxLength: 4096 } }),
      );
  });

  it('marks what is deprecated, what may still change, and what is not to be tried', async () => {
    const { paths, tags } = (await get('/openapi.json')).json();
    expect(paths['/pets/{petId}'].get).toMatchObject({ deprecated: true, 'x-deprecated-sunset': '2030-12-05' });
    expect(paths['/store/orders'].get['x-hideTryItPanel']).toBe(true);
    expect(paths['/inventory/{petId}'].patch['x-stability']).toBe('experimental');
    expect(paths['/store/orders/{orderId}'].delete['x-stability']).toBe('beta');
    expect(paths['/pets'].get).not.toHaveProperty('x-stability');
    expect((tags as Record<string, string>[]).map((tag) => [tag['name'], tag['x-parent']])).toEqual(
      expect.arrayContaining([
        ['Pets', undefined],
        ['animals', 'Pets'],
        ['categories', 'Pets'],
        ['Store', undefined],
        ['orders', 'Store'],
        ['inventory', 'Store'],
        ['events', 'Store'],
      ]),
    );
  });

  it('is the same as JSON and as YAML, and stands by itself', async () => {
    const [json, yaml] = [await get('/openapi.json'), await get('/openapi.yaml')];
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(yaml.body).not.toMatch(/^\s*<<:|[:-] [&*]\w/m);
    expect(parse(yaml.body)).toEqual(json.json());
    expect(json.json()).not.toHaveProperty('x-shared');
  });

  it('names no format that its readers would have to know from us', async () => {
    const formats = (await get('/openapi.json')).body.matchAll(/"format":"([^"]*)"/g);
    expect(new Set([...formats].map(([, format]) => format))).toEqual(
      new Set(['int32', 'int64', 'date-time', 'uri-reference']),
    );
  });

  it('lists every code of an error, in the schema and in words', async () => {
    const { components, info } = (await get('/openapi.json')).json();
    const onlyInGraphQL = new Set(['aborted', 'query_timed_out', 'result_too_large', 'stream_ended']);
    const codes = Object.values(errorTable).map(({ restCode }) => restCode);
    const listed: string[] = components.schemas.Error.properties.code.enum;
    expect(listed.toSorted()).toEqual(codes.filter((code) => !onlyInGraphQL.has(code)).toSorted());
    const graphqlCodes = buildSchema(readFileSync('schema.graphql', 'utf8')).getType('ErrorCode') as GraphQLEnumType;
    const values = graphqlCodes.getValues().map(({ name }) => name);
    const inDocument: string[] = components.schemas.GraphQLErrorCode.enum;
    expect(inDocument.toSorted()).toEqual(values.toSorted());
    for (const { enum: all, 'x-enumDescriptions': words } of [
      components.schemas.Error.properties.code,
      components.schemas.GraphQLErrorCode,
    ])
      expect(Object.keys(words)).toEqual(all);
    const explained = [...String(info.description).matchAll(/^- `(\w+)`: /gm)].map(([, code]) => code);
    expect(explained).toEqual(listed);
  });

  it('has a problem of RFC 9457 beside every Error', async () => {
    const responses = Object.values<object>((await get('/openapi.json')).json().components.responses);
    const types = responses.flatMap((response) => ('content' in response ? [Object.keys(response.content!)] : []));
    expect(types.length).toBeGreaterThan(12);
    expect(types).toEqual(types.map(() => ['application/json', 'application/problem+json']));
  });

  it.each(['/docs', '/docs/openapi.json'])(
    'is not sent again from %s to a client that has it, and needs no key',
    async (url) => {
      const first = await get(url);
      expect([first.statusCode, first.headers['cache-control']]).toEqual([200, 'no-cache']);
      const again = await get(url, { 'if-none-match': String(first.headers['etag']) });
      expect([again.statusCode, again.body, again.headers['etag']]).toEqual([304, '', first.headers['etag']]);
    },
  );
});

describe('the reference page', () => {
  it('may load and ask nothing but this server', async () => {
    const { headers, body } = await get('/docs');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none';.*connect-src 'self'/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it('is a plain 404 where something below it is missing', async () => {
    const { statusCode, headers } = await get('/docs/missing.js');
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
  });
});

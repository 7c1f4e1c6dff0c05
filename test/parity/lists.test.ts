import { beforeAll, describe, expect, it } from '@jest/globals';
import { isEnumType, isInputObjectType } from 'graphql';

import { nouns } from '../../src/domain/nouns.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { emptyStore } from '../support/empty-store.ts';
import { makeRows, testedNouns } from '../support/nouns/nouns.ts';
import { until } from '../support/until.ts';
import { publishedOperations, type Operation } from '../contract/document.ts';
import { differences } from './differences.ts';
import { startTestApp } from '../support/test-app.ts';

const app = await startTestApp();

const paging = new Set(['limit', 'cursor']);
const schema = createSchema();

function filterFields(list: string): string[] {
  const type = schema.getType(`${list}Filter`);
  return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

function sortFields(list: string): string[] {
  const type = schema.getType(`${list}SortField`);
  return isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
}

async function queryParameters(path: string): Promise<Operation['parameters']> {
  const operations = await publishedOperations();
  const found = operations.find((operation) => operation.method === 'GET' && operation.path === path);
  if (found === undefined) throw new Error(`The document has no GET ${path}.`);
  return found.parameters.filter((parameter) => parameter.in === 'query');
}

it.each(testedNouns)('the list of each $noun has the name of its store', ({ noun, collection }) => {
  const file = `the sorting in src/domain/${collection}`;
  const { kind } = nouns[noun].sorting;
  expect(differences(file, [kind], `collection of ${noun} in src/domain/nouns.ts`, [collection])).toEqual([]);
});

describe.each(testedNouns)('the list of each $noun', (tested) => {
  const { noun, collection, path, list, file, filters, filtersOfSecond = {}, parameters = {} } = tested;
  const { sorting, filter } = nouns[noun];
  const graphql = `src/graphql/${collection}`;
  const store = `the store in src/domain/${collection}`;
  let first: string;
  let second: string;

  const ids = async (args: string): Promise<string[]> => {
    const { data, errors } = await app.graphql(`{ ${collection}${args} { nodes { nodeId } } }`);
    expect(errors).toEqual([]);
    const { nodes } = data[collection] as { readonly nodes: readonly { readonly nodeId: string }[] };
    return nodes.map(({ nodeId }) => nodeId);
  };

  beforeAll(async () => {
    await emptyStore(app);
    await makeRows(app, noun);
    [first = '', second = ''] = await ids('');
  });

  it('is filtered by every field of its filter, in GraphQL and in fact', async () => {
    const all = { ...filters, ...filtersOfSecond };
    expect([
      ...differences(`${list}Filter in ${graphql}`, filterFields(list), store, Object.keys(filter)),
      ...differences(`filters in ${file}`, Object.keys(all), store, Object.keys(filter)),
    ]).toEqual([]);
    for (const [field, literal] of Object.entries(all)) {
      const expected = field in filtersOfSecond ? [second] : [first];
      expect({ [field]: await ids(`(filter: { ${field}: ${literal} })`) }).toEqual({ [field]: expected });
    }
  });

  it('is filtered by every parameter that REST documents', async () => {
    const documented = (await queryParameters(path)).map(({ name }) => name).filter((name) => !paging.has(name));
    expect(differences(`parameters in ${file}`, Object.keys(parameters), `GET ${path}`, documented)).toEqual([]);
    const { body: whole } = await app.ask('GET', path);
    for (const [name, value] of Object.entries(parameters)) {
      const read = `a handler in src/rest/${collection} reads ${name}`;
      expect({ [read]: (await app.ask('GET', `${path}?${name}=${value}`)).body }).toEqual({ [read]: [whole[0]] });
    }
  });

  it('is sorted by every field that its sorting has', async () => {
    const fields = Object.keys(sorting.keys);
    expect(differences(`${list}SortField in ${graphql}`, sortFields(list), store, fields)).toEqual([]);
    for (const field of fields) {
      const isById = sorting.keys[field as keyof typeof sorting.keys] === null;
      expect({ [field]: await ids(`(orderBy: { field: ${field}, direction: ASC })`) }).toEqual({
        [field]: isById ? [first, second] : [second, first],
      });
    }
  });

  it('has events', async () => {
    const [change] = nouns[noun].changes;
    const made = async () => (await app.ask('GET', `/events?type=${noun}.${change}`)).body.length >= 2;
    const problem = `No migration in migrations/ has recordEvents({ table: '${collection}', noun: '${noun}' }).`;
    expect(await until(made).catch(() => problem)).toBeUndefined();
  });
});

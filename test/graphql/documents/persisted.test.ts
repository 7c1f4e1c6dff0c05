import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startSampleServer } from '../sample-server.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const byHash = (text: string): object => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(text) } } });

const automatic = await startSampleServer();

const notFound = {
  errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', status: 400 } }],
};

describe('automatic persisted queries', () => {
  it('are found by their hash once their text was sent with it, by POST and by GET', async () => {
    const text = 'query ($text: String) { echo(text: $text) }';
    const unknown = await automatic.post(byHash(text));
    expect([unknown.statusCode, unknown.json()]).toEqual([200, notFound]);
    expect(unknown.headers['cache-control']).toBe('no-store');
    const sent = await automatic.post({ query: text, ...byHash(text), variables: { text: 'a' } });
    expect(sent.json()).toEqual({ data: { echo: 'a' } });
    const found = await automatic.post({ ...byHash(text), variables: { text: 'b' } });
    expect(found.json()).toEqual({ data: { echo: 'b' } });
    const { extensions } = byHash(text) as { extensions: object };
    const byGet = await automatic.get({ extensions: JSON.stringify(extensions), variables: '{"text":"c"}' });
    expect(byGet.json()).toEqual({ data: { echo: 'c' } });
  });

  it('are not remembered when they are not valid, or under a hash that is not theirs', async () => {
    const invalid = '{ unknown }';
    expect((await automatic.post({ query: invalid, ...byHash(invalid) })).statusCode).toBe(400);
    expect((await automatic.post(byHash(invalid))).json()).toEqual(notFound);
    const wrong = await automatic.post({ query: '{ echo }', ...byHash('{ total }') });
    expect([wrong.statusCode, wrong.json().errors[0].message]).toEqual([
      400,
      expect.stringMatching(/^`sha256Hash` is not the SHA-256 of `query`, .*manifest/),
    ]);
    expect((await automatic.post(byHash('{ total }'))).json()).toEqual(notFound);
  });

  it.each([
    ['of another version', { query: '{ echo }', extensions: { persistedQuery: { version: 2 } } }],
    ['of another form', { query: '{ echo }', extensions: { persistedQuery: '{ echo }' } }],
  ])('%s are refused', async (_name, body) => {
    expect((await automatic.post(body)).statusCode).toBe(400);
  });

  it('do not prevent other extensions', async () => {
    const response = await automatic.post({
      query: '{ echo(text: "a") }',
      extensions: { trace: true, persistedQuery: null },
    });
    expect(response.json()).toEqual({ data: { echo: 'a' } });
  });
});

describe('trusted documents', () => {
  const directory = temporaryDirectory();
  const echo = 'query Echo($text: String) { echo(text: $text) }';
  const unnamed = '{ total }';
  const create = 'mutation Create { createPet(input: { name: "Rex" }) { pet { name } } }';

  async function manifest(content: unknown): Promise<string> {
    const path = join(directory, `${hashOf(JSON.stringify(content)).slice(0, 8)}.json`);
    await writeFile(path, JSON.stringify(content));
    return path;
  }

  const apollo = (...texts: string[]): object => ({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: texts.map((body) => ({
      id: hashOf(body),
      name: /^\w+ (\w+)/.exec(body)?.[1] ?? '',
      type: body.split(' ')[0],
      body,
    })),
  });

  it.each([
    ['of Apollo', apollo(echo, create, unnamed)],
    ['of Relay', { [hashOf(echo)]: echo, [hashOf(create)]: create, [hashOf(unnamed)]: unnamed }],
  ])('from a manifest %s are asked for by hash or id, with or without their prefix', async (_name, content) => {
    const sample = await startSampleServer({ documentsPath: await manifest(content) });
    const id = hashOf(echo);
    const variables = { text: 'a' };
    for (const asked of [
      byHash(echo),
      { ...byHash(echo), operationName: 'Echo' },
      { documentId: id },
      { documentId: `sha256:${id}`, operationName: 'Echo' },
    ]) {
      expect((await sample.post({ ...asked, variables })).json()).toEqual({ data: { echo: 'a' } });
    }
    const byGet = await sample.get({ documentId: id, variables: '{"text":"b"}' });
    expect(byGet.json()).toEqual({ data: { echo: 'b' } });
    expect((await sample.post({ documentId: hashOf(create) })).json().data.createPet.pet).toEqual({ name: 'Rex' });
    expect((await sample.get({ documentId: hashOf(create) })).statusCode).toBe(405);
    expect((await sample.post({ documentId: id, operationName: 'Other' })).json().errors[0].extensions.code).toBe(
      'OPERATION_RESOLUTION_FAILURE',
    );
    expect((await sample.post({ documentId: hashOf(unnamed) })).json()).toEqual({ data: { total: 5 } });
    expect((await sample.post({ documentId: 'unknown' })).json()).toEqual(notFound);
    expect((await sample.post({ query: unnamed })).json()).toEqual({ data: { total: 5 } });
  });

  it('an id beside a text is that of the text', async () => {
    const sample = await startSampleServer({ documentsPath: await manifest({ 'the-echo': echo }) });
    for (const documentId of ['the-echo', hashOf(echo), `sha256:${hashOf(echo)}`])
      expect((await sample.post({ query: echo, documentId })).json()).toEqual({ data: { echo: null } });
    for (const documentId of ['the-echo', 'unknown', `sha256:${hashOf(echo)}`]) {
      const refused = await sample.post({ query: '{ total }', documentId });
      expect([refused.statusCode, refused.json().errors]).toEqual([
        400,
        [
          {
            message: expect.stringMatching(/^`documentId` is not the id of `query`, .*manifest/),
            extensions: { code: 'BAD_REQUEST', status: 400 },
          },
        ],
      ]);
    }
  });

  it('run the operation that their entry names, also where others share its text', async () => {
    const both = 'query A { total } query B($text: String) { echo(text: $text) }';
    const entries = ['A', 'B'].map((name) => ({ id: `the-${name}`, name, type: 'query', body: both }));
    const path = await manifest({ format: 'apollo-persisted-query-manifest', version: 1, operations: entries });
    for (const documentsOnly of [false, true]) {
      const sample = await startSampleServer({ documentsPath: path, documentsOnly });
      const dataOf = async (body: object) => (await sample.post(body)).json().data;
      for (const [id, data] of [
        ['A', { total: 5 }],
        ['B', { echo: null }],
      ] as const) {
        expect(await dataOf({ documentId: `the-${id}` })).toEqual(data);
        expect(await dataOf({ documentId: `the-${id}`, operationName: id })).toEqual(data);
        expect(await dataOf({ query: both, operationName: id })).toEqual(data);
      }
      const other = await sample.post({ documentId: 'the-A', operationName: 'B' });
      expect(other.json().errors[0].extensions.code).toBe('OPERATION_RESOLUTION_FAILURE');
      expect((await sample.post({ query: both })).statusCode).toBe(400);
    }
  });

  it('may be the only ones that are offered', async () => {
    const sample = await startSampleServer({ documentsPath: await manifest(apollo(echo)), documentsOnly: true });
    const notInList = { code: 'PERSISTED_QUERY_NOT_IN_LIST', status: 400 };
    const others: object[] = [
      { query: '{ total }' },
      { query: '{ __schema { queryType { name } } }' },
      { query: '{ total }', ...byHash('{ total }') },
      byHash('{ total }'),
      { documentId: 'unknown' },
      {},
    ];
    for (const body of others) {
      const response = await sample.post(body);
      expect([response.statusCode, response.json().errors[0].extensions]).toEqual([400, notInList]);
    }
    expect((await sample.get({ query: '{ total }' })).json().errors[0].extensions).toEqual(notInList);
    expect((await sample.post(byHash(echo))).json()).toEqual({ data: { echo: null } });
    expect((await sample.post({ documentId: hashOf(echo) })).json()).toEqual({ data: { echo: null } });
  });

  it.each([
    ['an operation that does not fit the schema', apollo('query Gone { gone }'), /Gone.*Cannot query field "gone"/],
    [
      'an operation beyond a limit',
      apollo(`query Deep { pet(id: 1) ${'{ friend '.repeat(20)} { id } ${'}'.repeat(20)} }`),
      /Deep.*at most 15 are allowed/,
    ],
    ['an operation with too many fields', { a: `{ ${'total '.repeat(1001)} }` }, /\(a\).*at most 1000 are allowed/],
    [
      'a text that is too long',
      apollo(`query Long { echo } #${'é'.repeat(32_768)}`),
      /Long.*at most 65536 are allowed/,
    ],
    ['no manifest', ['{ echo }'], /neither Apollo's manifest nor Relay's/],
    ['a manifest of an unknown version', { ...apollo(echo), version: 2 }, /"apollo-.*" in the version 2, but must/],
    ['a manifest of an unknown format', { ...apollo(echo), format: 'other' }, /the format "other" in the version 1/],
    ['an entry without a text', { a: 5 }, /"a".*must have an id and a text/],
    ['an id twice', apollo(echo, echo), /twice/],
  ])('%s stops the start, by name', async (_name, content, message) => {
    await expect(startSampleServer({ documentsPath: await manifest(content) })).rejects.toThrow(message);
  });

  it('that are not there stop the start', async () => {
    await expect(startSampleServer({ documentsPath: join(directory, 'missing.json') })).rejects.toThrow(
      /^GRAPHQL_DOCUMENTS: .*missing\.json can't be read: ENOENT/,
    );
  });
});

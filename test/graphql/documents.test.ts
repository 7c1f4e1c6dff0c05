import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';

import { createDocuments } from '../../src/graphql/pipeline/documents.ts';
import { startSampleServer, type SampleServer } from './sample-server.ts';

describe('the documents that are remembered', () => {
  /** It is never left out, though Apollo's types allow it. */
  function createStore() {
    const { documentStore } = createDocuments();
    if (!documentStore) throw new Error('There is no store.');
    return documentStore;
  }

  it('are found by their text', async () => {
    const store = createStore();
    const document = parse('{ echo }');
    await store.set('{ echo }', document);
    expect(await store.get('{ echo }')).toBe(document);
    expect(await store.get('{  echo }')).toBeUndefined();
  });

  it('are few when their texts are long, though they say little', async () => {
    const store = createStore();
    const texts = Array.from({ length: 100 }, (_, index) => `{ echo${index}: echo }${' '.repeat(100_000)}`);
    for (const text of texts) await store.set(text, parse(text));
    const kept = await Promise.all(texts.map((text) => store.get(text)));
    expect(kept.filter((document) => document !== undefined).length).toBeLessThanOrEqual(2);
    expect(kept.at(-1)).toBeDefined();
  });
});

let sample: SampleServer;

beforeAll(async () => {
  sample = await startSampleServer();
});

afterAll(() => sample.server.close());

it('takes no text for another one that has the same bytes', async () => {
  const text = (character: string): object => ({ query: `{ echo(text: "${character}") }` });
  expect((await sample.post(text('\ufffd'))).json()).toEqual({ data: { echo: '\ufffd' } });
  // A lone surrogate, which has no bytes of its own in UTF-8.
  const response = await sample.post(text('\ud801'));
  expect(response.statusCode).toBe(400);
  expect(response.json().errors[0].extensions.code).toBe('GRAPHQL_PARSE_FAILED');
});

describe('persisted queries', () => {
  /** So Apollo's clients know that they needn't ask again. */
  const notSupported = {
    errors: [
      {
        message: 'PersistedQueryNotSupported',
        extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', status: 400 },
      },
    ],
  };

  it.each([
    ['known by its hash', { extensions: { persistedQuery: { version: 1, sha256Hash: 'ab' } } }],
    ['sent with its hash', { query: '{ echo }', extensions: { persistedQuery: { version: 1, sha256Hash: 'ab' } } }],
    ['that is its own hash', { extensions: { persistedQuery: { version: 1, sha256Hash: '{ echo }' } } }],
    ['of another version', { query: '{ echo }', extensions: { persistedQuery: { version: 2 } } }],
    ['of another form', { query: '{ echo }', extensions: { persistedQuery: '{ echo }' } }],
  ])('%s are not supported', async (_name, body) => {
    const response = await sample.post(body);
    expect(response.statusCode).toBe(200);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.json()).toEqual(notSupported);
  });

  it('are not supported by GET either', async () => {
    const persistedQuery = { version: 1, sha256Hash: 'ab' };
    const response = await sample.get({ extensions: JSON.stringify({ persistedQuery }) });
    expect(response.json()).toEqual(notSupported);
  });

  it('keep nobody from sending other extensions', async () => {
    const response = await sample.post({
      query: '{ echo(text: "a") }',
      extensions: { trace: true, persistedQuery: null },
    });
    expect(response.json()).toEqual({ data: { echo: 'a' } });
  });
});

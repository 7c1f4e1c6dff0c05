import { beforeAll, describe, expect, it } from '@jest/globals';

import { sampleLimits, startSampleServer, type SampleServer } from '../sample-server.ts';

const sample = await startSampleServer({ limits: { ...sampleLimits, maxResponseBytes: 1024 } });

const { run } = sample;

const echo = 'query ($text: String) { echo(text: $text) }';
/** `{"data":{"echo":"…"}}` without the text and what surrounds the data. */
const around = '{"echo":""}'.length;

describe('the bytes of a response', () => {
  it.each([
    ['ASCII', 'x', 1],
    ['two bytes', 'é', 2],
    ['three bytes', '€', 3],
    ['four bytes', '🐕', 4],
    ['six characters in JSON', '\u0001', 6],
  ])('counts bytes as they are sent: %s', async (_name, character, bytes) => {
    const fits = Math.floor((1024 - around) / bytes);
    sample.refusals.length = 0;
    expect(await run(echo, { text: character.repeat(fits) })).toMatchObject({ status: 200, errors: [] });
    expect(await run(echo, { text: character.repeat(fits + 1) })).toEqual({
      status: 400,
      errors: [
        {
          message: expect.stringMatching(/1024 bytes that are allowed/),
          extensions: { code: 'RESULT_TOO_LARGE', status: 400 },
        },
      ],
    });
    expect(sample.refusals).toEqual(['result_bytes']);
  });

  it('counts keys, introspection and errors', async () => {
    const tooLarge = { status: 400, errors: [{ extensions: { code: 'RESULT_TOO_LARGE' } }] };
    expect(await run(`{ ${'a'.repeat(1024)}: echo }`)).toMatchObject(tooLarge);
    expect(await run('{ __schema { types { name description } } }')).toMatchObject(tooLarge);
    const failing = Array.from({ length: 20 }, (_, n) => `a${n}: fail(how: NOT_FOUND)`);
    expect(await run(`{ ${failing.join(' ')} }`)).toMatchObject(tooLarge);
  });

  it('does not count what a failure discards', async () => {
    const strict = Array.from({ length: 3 }, (_, n) => `p${n}: discarded(text: $text) { text strict }`);
    const { status, data } = await run(`query ($text: String) { ${strict.join(' ')} }`, { text: 'x'.repeat(600) });
    expect([status, data]).toEqual([200, { p0: null, p1: null, p2: null }]);
  });

  it('carries out every mutation, with an error where its payload does not fit', async () => {
    const create = (key: string, name: string): string =>
      `${key}: createPet(input: { name: "${name}" }) { pet { id name } }`;
    const before = sample.created.length;
    // Their errors alone are more than what a response may have.
    const later = Array.from({ length: 10 }, (_, n) => `later${n}`);
    const { status, data, errors } = await run(
      `mutation { ${create('a', 'Rex')} ${create('b', 'x'.repeat(1024))} ${later.map((key) => create(key, 'Mia')).join(' ')} gone: fail(how: NOT_FOUND) }`,
    );
    expect(status).toBe(200);
    expect(data).toEqual({
      ...Object.fromEntries(['b', ...later, 'gone'].map((key) => [key, null])),
      a: { pet: { id: '1', name: 'Rex' } },
    });
    expect(errors.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      ...['b', ...later].map((key) => [[key], 'RESULT_TOO_LARGE']),
      [['gone'], 'NOT_FOUND'],
    ]);
    expect(errors[0]!.message).toMatch(/^createPet was carried out/);
    expect(sample.created.slice(before)).toEqual(['Rex', 'x'.repeat(1024), ...later.map(() => 'Mia')]);
  });
});

describe('a large result', () => {
  const query = 'query ($text: String, $more: String) { a: echo(text: $text) pet(id: 1) { id } b: echo(text: $more) }';
  const [text, more] = ['€"'.repeat(100_000), 'x'.repeat(300_000)];
  const data = { a: text, pet: null, b: more };
  const whole = `{"data":${JSON.stringify(data)}}\n`;
  let large: SampleServer;

  beforeAll(async () => {
    large = await startSampleServer();
  });

  it.each([
    ['application/json', whole],
    ['text/event-stream', `event: next\ndata: ${whole.trimEnd()}\n\nevent: complete\ndata:\n\n`],
  ])('is sent whole, with its length: Accept: %s', async (accept, body) => {
    const response = await large.post({ query, variables: { text, more } }, { accept });
    expect(response.headers).toMatchObject({
      'content-type': `${accept}; charset=utf-8`,
      'content-length': String(Buffer.byteLength(body)),
    });
    expect(response.body).toBe(body);
  });

  it('has the same length by HEAD', async () => {
    const aliases = Array.from({ length: 10 }, (_, index) => `a${index}: echo(text: $text)`);
    const parameters = {
      query: `query ($text: String) { ${aliases.join(' ')} }`,
      variables: JSON.stringify({ text: 'x'.repeat(7_000) }),
    };
    const url = `/graphql?${String(new URLSearchParams(parameters))}`;
    const headers = { 'x-api-key': 'any' };
    const [got, head] = [
      await large.server.inject({ method: 'GET', url, headers }),
      await large.server.inject({ method: 'HEAD', url, headers }),
    ];
    expect(got.json().data.a9).toHaveLength(7_000);
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(String(got.body.length));
  });

  it('has its errors', async () => {
    const withError = query.replace('pet(id: 1) { id }', 'fail(how: NOT_FOUND)');
    const response = await large.post({ query: withError, variables: { text, more } });
    const result = response.json();
    expect(result.data).toEqual({ a: text, fail: null, b: more });
    expect(result.errors).toMatchObject([{ path: ['fail'] }]);
  });
});

describe('errors in a response', () => {
  it('are at most 100, and one more with the number of the omitted ones', async () => {
    const unlimited = await startSampleServer();
    const { data, errors } = (await unlimited.post({ query: '{ failures(count: 250) }' })).json();
    expect(data.failures).toHaveLength(250);
    expect(errors).toHaveLength(101);
    expect(errors[99].path).toEqual(['failures', 99]);
    expect(errors[100]).toEqual({
      message: '150 more errors are left out.',
      extensions: { code: 'ERRORS_OMITTED', status: 400 },
    });
    expect(unlimited.refusals).toEqual(['errors']);
    const exactly = (await unlimited.post({ query: '{ failures(count: 100) }' })).json();
    expect(exactly.errors).toHaveLength(100);
  });
});

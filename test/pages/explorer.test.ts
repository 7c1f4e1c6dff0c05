import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { startHttp, type HttpHarness } from '../http/http-harness.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const script = 'export {};';

describe('the explorer', () => {
  const directory = temporaryDirectory();
  let http: HttpHarness;

  beforeAll(async () => {
    await mkdir(join(directory, 'graphiql'));
    await writeFile(join(directory, 'index.html'), '<title>the page</title>');
    await writeFile(join(directory, 'secret.txt'), 'not for clients');
    await writeFile(join(directory, 'graphiql/index-abc.js'), script);
    await writeFile(join(directory, 'graphiql/examples-abc.js'), script);
    await writeFile(join(directory, 'graphiql/index-abc.js.br'), brotliCompressSync(script));
    http = await startHttp({ builtExplorer: directory });
  });

  it('is a page that caches must revalidate, and names no other host', async () => {
    const page = await http.server.inject('/graphiql');
    expect([page.statusCode, page.body]).toEqual([200, '<title>the page</title>']);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'self';.*frame-ancestors 'none'$/);
    expect(policy).not.toMatch(/https?:|\*|\.|unsafe-eval|script-src/);
    const again = await http.server.inject({ url: '/graphiql', headers: { 'if-none-match': page.headers.etag } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('loads assets that caches may store for ever, compressed for clients that accept it', async () => {
    const plain = await http.server.inject('/graphiql/index-abc.js');
    expect([plain.statusCode, plain.body, plain.headers['content-encoding']]).toEqual([200, script, undefined]);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toMatch(/javascript/);
    const compressed = await http.server.inject({
      url: '/graphiql/index-abc.js',
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(compressed.headers['content-encoding']).toBe('br');
    expect(compressed.headers.vary).toBe('accept-encoding');
    expect(String(brotliDecompressSync(compressed.rawPayload))).toBe(script);
  });

  it.each(['bytes=999999-', 'bytes=5-2', 'lines=1', 'bytes=0-0, 3-4'])('ignores the range %s', async (range) => {
    for (const url of ['/graphiql', '/graphiql/index-abc.js']) {
      for (const coding of ['br', 'identity']) {
        const { statusCode, headers } = await http.server.inject({
          url,
          headers: { range, 'accept-encoding': coding },
        });
        expect([url, statusCode, headers['content-range']]).toEqual([url, 200, undefined]);
      }
    }
  });

  it('has its examples, which name fields, only where the schema is public', async () => {
    const hidden = await startHttp({ builtExplorer: directory, hasSchema: false });
    const statuses = [http, hidden].map(async ({ server }) => {
      const { statusCode } = await server.inject('/graphiql/examples-abc.js');
      return statusCode;
    });
    expect(await Promise.all(statuses)).toEqual([200, 404]);
  });

  it('is at one address, with and without a slash', async () => {
    const response = await http.server.inject('/graphiql/');
    const location = new URL(String(response.headers.location), 'http://host/below/graphiql/').pathname;
    expect([response.statusCode, location]).toEqual([302, '/below/graphiql']);
  });

  it.each(['/graphiql/nope', '/graphiql/../secret.txt', '/graphiql/..%2Fsecret.txt', '/graphiql/index-abc.js/x'])(
    'has nothing at %s',
    async (url) => {
      const response = await http.server.inject(url);
      expect(response.statusCode).toBe(404);
      expect(response.body).not.toContain('not for clients');
    },
  );

  it('has an error page for a browser, and a line of text for other clients', async () => {
    const missing = { url: '/graphiql/<b>&"', headers: { accept: 'text/html,*/*;q=0.8' } };
    const page = await http.server.inject(missing);
    expect([page.statusCode, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; base-uri 'none';/);
    expect(page.headers.vary).toBe('Accept');
    expect(page.body).toContain('There is nothing at &#34;/graphiql/&#60;b&#62;&#38;');
    expect(page.body).not.toContain('<b>');
    const line = await http.server.inject({ ...missing, headers: { accept: '*/*' } });
    expect([line.statusCode, line.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
  });
});

it('says how to build the explorer where it is not built', async () => {
  const { server } = await startHttp();
  const response = await server.inject('/graphiql');
  expect(response.statusCode).toBe(404);
  expect(response.body).toContain('`npm run build`');
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';

import { readConfig } from '../../src/settings/config.ts';
import { createServer, type ServerOptions } from '../../src/http/server.ts';
import { AddressedText } from '../../src/pages/addressed-text.ts';
import { registerDocs } from '../../src/pages/reference/reference.routes.ts';
import { registerSchema } from '../../src/pages/schema.routes.ts';
import { readDocument } from '../../src/rest/openapi/document.ts';
import { anyDelay } from '../support/bare-server.ts';
import { collectGarbage } from '../support/measurement.ts';

const sdl = 'type Query {\n  pets: Int\n}\n';
const document = readDocument();
const documents = ['/openapi.json', '/openapi.yaml', '/schema.graphql'];

/** Of buffers, but for those that are garbage: their memory goes in a later tick than they do. */
async function bytesKept(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    collectGarbage();
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return process.memoryUsage().arrayBuffers;
}

function serve(options: Partial<ServerOptions> = {}): FastifyInstance {
  const server = createServer({ logLevel: 'silent', limits: anyDelay, ...options });
  registerDocs(server, { document, restPrefix: '/v1', script: '/nowhere', guides: '/nowhere', limits: readConfig({}) });
  registerSchema(server, () => sdl);
  return server;
}

describe.each(documents)('%s', (url) => {
  let server: FastifyInstance;
  beforeAll(() => void (server = serve()));

  it('may be read by a page of any origin, without a key', async () => {
    const { statusCode, headers } = await server.inject({ url, headers: { origin: 'https://elsewhere.example' } });
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([200, '*']);
    expect(headers['access-control-expose-headers']).toBe('ETag');
    const preflight = await server.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin: 'https://elsewhere.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'if-none-match',
      },
    });
    expect([preflight.statusCode, preflight.body]).toEqual([204, '']);
    expect(preflight.headers).toMatchObject({
      allow: 'GET, HEAD, OPTIONS',
      'access-control-allow-origin': '*',
      'access-control-allow-headers': expect.stringMatching(/^\*/),
    });
  });

  it('is not sent again to a client that has it, and has a HEAD', async () => {
    const first = await server.inject(url);
    const again = await server.inject({ url, headers: { 'if-none-match': String(first.headers.etag) } });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', first.headers.etag]);
    expect(first.headers.etag).toMatch(/^"[\w-]{22}"$/);
    const head = await server.inject({ method: 'HEAD', url });
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([
      200,
      String(first.rawPayload.length),
      '',
    ]);
  });

  it('is whole whatever range is asked for', async () => {
    const { statusCode, headers } = await server.inject({ url, headers: { range: 'bytes=99999999-' } });
    expect([statusCode, headers['content-range']]).toEqual([200, undefined]);
  });
});

describe('the address in the samples', () => {
  const samplesAt = async (server: FastifyInstance, headers: Record<string, string>) => {
    const { body } = await server.inject({ url: '/openapi.json', headers });
    const [{ url }] = JSON.parse(body).servers;
    return new Set([...body.match(/(?<=curl -sS )\\"\w+:\/\/[^/]*\/v1\/pets/g)!, `\\"${url}/pets`]);
  };

  it.each([
    [{ host: 'store.example:8080' }, 'http://store.example:8080'],
    [{ host: '[::1]:4000' }, 'http://[::1]:4000'],
    [{ host: '$(reboot)' }, 'http://localhost'],
    [
      { host: 'store.example', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' },
      'http://store.example',
    ],
  ])('of a request with %j is %s', async (headers, address) => {
    const server = serve();
    expect(await samplesAt(server, headers)).toEqual(new Set([`\\"${address}/v1/pets`]));
  });

  it.each([
    [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }, 'https://shop.example'],
    [{ 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'shop.example' }, 'http://shop.example'],
    [{ 'x-forwarded-proto': 'https"; rm -rf /; "', 'x-forwarded-host': 'a b' }, 'http://store.example'],
    [{ 'x-forwarded-proto': 'http, HTTPS', 'x-forwarded-host': 'x.example, `id`' }, 'https://store.example'],
  ])('behind a trusted proxy that sends %j is %s', async (headers, address) => {
    const server = serve({ trustProxy: 1 });
    expect(await samplesAt(server, { host: 'store.example', ...headers })).toEqual(new Set([`\\"${address}/v1/pets`]));
  });

  it('takes no more memory for two hundred hosts than for a few', async () => {
    const server = serve();
    const first = await server.inject({ url: '/openapi.json', headers: { host: 'h0.example' } });
    const before = await bytesKept();
    for (let host = 1; host <= 200; host++) {
      await server.inject({ method: 'HEAD', url: '/openapi.json', headers: { host: `h${host}.example` } });
    }
    expect((await bytesKept()) - before).toBeLessThan(20 * first.rawPayload.length);
  });
});

it('is made of the same buffers for every host, but for the address', () => {
  const text = new AddressedText('text/plain', () => `a http://127.0.0.1:4000 b http://127.0.0.1:4000 c`);
  const [one, other] = [text.at('http://one.example'), text.at('http://other.example')];
  expect(Buffer.concat(other.parts).toString()).toBe('a http://other.example b http://other.example c');
  expect(one.parts.filter((part) => other.parts.includes(part)).map(String)).toEqual(['a ', ' b ', ' c']);
  expect(one.tag).not.toBe(other.tag);
});

it('/schema.graphql is the schema as SDL, as text that browsers show', async () => {
  const { headers, body } = await serve().inject('/schema.graphql');
  expect([headers['content-type'], body]).toEqual(['text/plain; charset=utf-8', sdl]);
});

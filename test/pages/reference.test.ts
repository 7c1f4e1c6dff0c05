import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';

import { readConfig } from '../../src/settings/config.ts';
import { createServer } from '../../src/http/server.ts';
import { registerDocs } from '../../src/pages/reference/reference.routes.ts';
import { readDocument } from '../../src/rest/openapi/document.ts';
import { atEnd } from '../support/at-end.ts';
import { anyDelay } from '../support/bare-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const source = 'draw();\n'.repeat(1_000);

function serve(script: string): FastifyInstance {
  const server = createServer({ logLevel: 'silent', limits: anyDelay });
  registerDocs(server, {
    document: readDocument(),
    restPrefix: '',
    script,
    guides: '/nowhere',
    limits: readConfig({}),
  });
  atEnd(() => server.close());
  return server;
}

describe("the reference page's script", () => {
  const directory = temporaryDirectory();
  let server: FastifyInstance;

  beforeAll(async () => {
    const script = join(directory, 'scalar.js');
    await writeFile(script, source);
    await writeFile(`${script}.gz`, gzipSync(source));
    server = serve(script);
  });

  const get = (headers: Record<string, string> = {}) => server.inject({ url: '/docs/scalar.js', headers });

  it('comes compressed where that is understood, and plain elsewhere', async () => {
    const [plain, gzipped] = [await get(), await get({ 'accept-encoding': 'gzip, br' })];
    expect([plain.statusCode, plain.headers['content-encoding'], plain.body]).toEqual([200, undefined, source]);
    expect([gzipped.statusCode, gzipped.headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(String(gunzipSync(gzipped.rawPayload))).toBe(source);
    for (const { headers } of [plain, gzipped]) {
      expect([headers['vary'], headers['content-type']]).toEqual(['accept-encoding', 'text/javascript; charset=utf-8']);
    }
  });

  it('is not sent again to a client that has it', async () => {
    const { headers } = await get();
    expect(headers['cache-control']).toBe('no-cache');
    const again = await get({ 'if-none-match': String(headers['etag']) });
    expect([again.statusCode, again.body, again.headers['etag']]).toEqual([304, '', headers['etag']]);
  });
});

it('says how to build the script of the reference page where it is not built', async () => {
  const server = serve('/nowhere/scalar.js');
  const { statusCode, body } = await server.inject('/docs/scalar.js');
  expect([statusCode, body]).toEqual([404, expect.stringContaining('`npm run build` builds it')]);
});

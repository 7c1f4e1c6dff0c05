import { describe, expect, it } from '@jest/globals';

import type { Principal } from '../../src/domain/access/principal.ts';
import { HttpError } from '../../src/http/error-table.ts';
import { MemoryCounterStore } from '../../src/platform/quotas/memory-counter-store.ts';
import { unavailable } from '../../src/domain/errors.ts';
import { QuotaService } from '../../src/platform/quotas/quota.service.ts';
import { Authentication } from '../../src/http/authentication.ts';
import { startHttp } from '../http/http-harness.ts';
import { responseTo, portOf } from '../platform/http/raw-requests.ts';
import { quotaHeaders } from './quota-headers.ts';

const bans = { epoch: 0, bannedUntil: 0, automaticBans: [] };
const principals: Record<string, Principal> = {
  reader: principal('reader', { scopes: ['read'] }, 1000),
  spent: principal('spent', {}, 1),
  banned: principal('banned', { bans: { ...bans, bannedUntil: Date.now() + 60_000 } }, 1000),
};

function principal(id: string, given: Partial<Principal>, requestsPerMinute: number): Principal {
  const limits = { requestsPerMinute, requestsPerDay: 100_000 };
  const plan = 'enterprise';
  return { id, name: id, plan, scopes: ['write'], expiresAt: null, limits, bans, isAnonymous: false, ...given };
}

const counters = new MemoryCounterStore({ rules: { banAfter: 0, banForSeconds: 60 }, now: Date.now });

const keys = {
  find: async (key: string) => {
    if (key === 'lost') throw unavailable(new Error('connect ECONNREFUSED'));
    return principals[key];
  },
};
const http = await startHttp({
  authentication: new Authentication({ keys, quota: new QuotaService(counters, () => undefined) }),
  limits: { headersTimeoutMillis: 200, requestTimeoutMillis: 200, timeoutCheckMillis: 20 },
  routes: async (api) => {
    api.get('/scoped', { config: { scope: 'write' } }, async () => []);
    api.get('/unchanged', async (_request, reply) => reply.code(304).send());
    api.get('/wrong', async () => {
      throw new HttpError('BAD_REQUEST', 'This is wrong.');
    });
    api.get('/bug', async () => {
      throw new TypeError('a bug');
    });
    api.get('/lost', async () => {
      throw unavailable(new Error('connect ECONNREFUSED'));
    });
  },
});
const port = await portOf(http.server);
await http.server.inject({ url: '/things', headers: { 'x-api-key': 'spent' } });

/** The beginning of a row's text says which it is. */
const titled = <Row extends readonly [status: number, text: string, ...rest: string[]]>(rows: readonly Row[]) =>
  rows.map((row) => [`${row[0]} to ${JSON.stringify(row[1].slice(0, 70))}`, row] as const);

const json = 'Content-Type: application/json\r\n';

const isBeforeKey = (status: number, line: string): boolean =>
  [414, 417, 431].includes(status) || line.startsWith('OPTIONS ') || line.includes('%zz');

describe('the figures are in every response of the API:', () => {
  it.each(
    titled([
      [200, 'GET /things', 'reader', '', ''],
      [200, 'HEAD /things', 'reader', '', ''],
      [201, 'POST /things', 'reader', json, '{}'],
      [204, 'OPTIONS /things', 'reader', '', ''],
      [204, 'OPTIONS *', '', '', ''],
      [304, 'GET /unchanged', 'reader', '', ''],
      [400, 'GET /wrong', 'reader', '', ''],
      [400, 'GET /%zz', 'reader', '', ''],
      [401, 'GET /things', '', '', ''],
      [401, 'GET /things', 'wrong', '', ''],
      [403, 'GET /scoped', 'reader', '', ''],
      [403, 'GET /things', 'banned', '', ''],
      [404, 'GET /nothing', 'reader', '', ''],
      [404, 'OPTIONS /nothing', 'reader', '', ''],
      [405, 'DELETE /things', 'reader', '', ''],
      [413, 'POST /things', 'reader', json, ' '.repeat(1024 * 1024 + 1)],
      [414, `GET /${'a'.repeat(9000)}`, 'reader', '', ''],
      [415, 'POST /things', 'reader', 'Content-Type: text/plain\r\n', 'x'],
      [417, 'GET /things', 'reader', 'Expect: miracles\r\n', ''],
      [429, 'GET /things', 'spent', '', ''],
      [431, 'GET /things', 'reader', `A: ${'a'.repeat(17_000)}\r\n`, ''],
      [500, 'GET /bug', 'reader', '', ''],
      [503, 'GET /lost', 'reader', '', ''],
      [503, 'GET /things', 'lost', '', ''],
    ] as const),
  )('%s', async (_title, [status, line, key, headers, body]) => {
    const keyHeader = key === '' ? '' : `X-API-Key: ${key}\r\n`;
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    const response = await responseTo(
      port,
      `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${keyHeader}${headers}${length}\r\n${body}`,
    );
    expect(response.status).toBe(status);
    expect(response.headers).toMatchObject(quotaHeaders);
    // A response from before the key is checked has the address's figures, so that keys can't be guessed for nothing.
    const isChecked = ['reader', 'banned', 'spent'].includes(key) && !isBeforeKey(status, line);
    expect(response.headers['x-ratelimit-limit']).toBe(isChecked ? (key === 'spent' ? '1' : '1000') : '60');
    if ([429, 503].includes(status) || key === 'banned')
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });

  it.each(
    titled([
      [400, 'garbage\r\n\r\n'],
      [400, 'BREW /things HTTP/1.1\r\nHost: x\r\n\r\n'],
      [400, 'GET /things HTTP/1.1\r\nX-API-Key: reader\r\n\r\n'],
      [400, `POST /things HTTP/1.1\r\nHost: x\r\nX-API-Key: reader\r\n${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
      [405, 'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
      [408, 'GET /things HTTP/1.1\r\nHost: x\r\n'],
      [408, `POST /things HTTP/1.1\r\nHost: x\r\nX-API-Key: reader\r\n${json}Content-Length: 9\r\n\r\n{`],
      [414, `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      [431, `GET /things HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`],
    ] as const),
  )('%s', async (_title, [status, text]) => {
    const response = await responseTo(port, text);
    expect(response.status).toBe(status);
    expect(response.headers).toMatchObject(quotaHeaders);
    expect(response.headers['x-ratelimit-limit']).toBe('60');
  });
});

it('what HTTP itself refuses spends nothing', async () => {
  const left = async (): Promise<number> =>
    Number(
      (await http.server.inject({ url: '/things', headers: { 'x-api-key': 'reader' } })).headers[
        'x-ratelimit-remaining'
      ],
    );
  const before = await left();
  await responseTo(
    port,
    `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: x\r\nX-API-Key: reader\r\nConnection: close\r\n\r\n`,
  );
  expect(await left()).toBe(before - 1);
});

import { describe, expect, it } from '@jest/globals';

import { unavailable } from '../../src/domain/errors.ts';
import { HttpError } from '../../src/http/error-table.ts';
import { anyKey, authenticationBy, holderOf, startHttp } from '../http/http-harness.ts';
import { responseTo, portOf } from '../platform/http/raw-requests.ts';
import { quotaHeaders } from './quota-headers.ts';

const holders = [
  holderOf('reader', { scopes: ['read'] }),
  holderOf('spent', { limits: { requestsPerMinute: 1, requestsPerDay: 100_000 } }),
  holderOf('banned', { bans: { epoch: 0, bannedUntil: Date.now() + 60_000, automaticBans: [] } }),
];
const find = (key: string) => {
  if (key === 'lost') throw unavailable(new Error('connect ECONNREFUSED'));
  return holders.find(({ id }) => id === key);
};

const http = await startHttp({
  authentication: authenticationBy({ find }),
  routes: async (api) => {
    api.get('/scoped', { config: { scopes: ['write'] } }, async () => []);
    api.get('/unchanged', anyKey, async (_request, reply) => reply.code(304).send());
    api.get('/wrong', anyKey, async () => {
      throw new HttpError('BAD_REQUEST', 'This is wrong.');
    });
    api.get('/bug', anyKey, async () => {
      throw new TypeError('a bug');
    });
    api.get('/lost', anyKey, async () => {
      throw unavailable(new Error('connect ECONNREFUSED'));
    });
  },
});
const port = await portOf(http.server);
await http.server.inject({ url: '/things', headers: { 'x-api-key': 'spent' } });

const json = 'Content-Type: application/json\r\n';

const isBeforeKey = (status: number, line: string): boolean =>
  [414, 417, 431].includes(status) || line.startsWith('OPTIONS ') || line.includes('%zz');

describe('the figures are in every response of the API,', () => {
  it.each([
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
  ] as const)('of %i, row %# of the table', async (status, line, key, headers, body) => {
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

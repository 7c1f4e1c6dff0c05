import { describe, expect, it } from '@jest/globals';

import { freeLimits } from '../../src/domain/access/plan.ts';
import { sentKey } from '../../src/http/client.ts';
import type { ServerOptions } from '../../src/http/server.ts';
import { authenticationBy, holderOf, startHttp } from './http-harness.ts';

const holder = holderOf('7', { plan: 'free', limits: freeLimits });

let now = Date.now();
const decisions: string[] = [];
const begunBans: string[] = [];

const authentication = authenticationBy({
  find: (key) => (key === 'good' ? holder : undefined),
  banAfter: 2,
  onBan: (id) => void begunBans.push(id),
  now: () => now,
  onDecision: (plan, outcome) => void decisions.push(`${plan} ${outcome}`),
});
const http = await startHttp({ authentication });

const ask = () => http.server.inject({ url: '/things', headers: { 'x-api-key': 'good', 'x-request-id': 'asked' } });

it('bans for one refusal too many, says for how long, and admits again when both are over', async () => {
  for (let count = 0; count < 60; count += 1) expect((await ask()).statusCode).toBe(200);
  // Refusals within two seconds of the first one don't count.
  for (let count = 0; count < 10; count += 1) expect((await ask()).headers['retry-after']).toBe('60');
  now += 2_001;
  for (let count = 0; count < 2; count += 1) expect((await ask()).headers['retry-after']).toBe('58');
  const banned = await ask();
  expect(banned.json()).toMatchObject({ status: 403, code: 'key_banned' });
  expect(banned.headers['retry-after']).toBe('900');
  expect(begunBans).toEqual(['7']);
  now += 890_500;
  expect((await ask()).headers['retry-after']).toBe('10');
  now += 10_000;
  const again = await ask();
  expect([again.statusCode, again.headers['x-ratelimit-remaining']]).toEqual([200, '59']);
});

it('reports every decision once, with the plan', async () => {
  decisions.length = 0;
  await ask();
  await http.server.inject('/things');
  await http.server.inject({ method: 'OPTIONS', url: '/things' });
  expect(decisions).toEqual(['free admitted', 'none admitted']);
});

it('has the id of the key in the log, and nothing of the key itself', async () => {
  await ask();
  const lines = http.log.filter(({ requestId }) => requestId === 'asked');
  expect(lines.at(-1)).toMatchObject({ key: '7', status: 200 });
  expect(JSON.stringify(lines)).not.toMatch('good');
});

describe('a client without a key is counted by the address', () => {
  /** How much is left after each of these requests, which all come from the address 10.0.0.1. */
  async function figures(trustProxy: ServerOptions['trustProxy'], forwardedFor: string[]): Promise<unknown[]> {
    const { server } = await startHttp({ authentication: authenticationBy({ find: () => undefined }), trustProxy });
    const left: unknown[] = [];
    for (const address of forwardedFor) {
      const headers = { 'x-forwarded-for': address };
      const response = await server.inject({ url: '/things', remoteAddress: '10.0.0.1', headers });
      left.push(response.headers['x-ratelimit-remaining']);
    }
    return left;
  }

  it('of the connection when no proxy is trusted, whatever is claimed', async () => {
    for (const none of [false, 0] as const) expect(await figures(none, ['1.1.1.1', '2.2.2.2'])).toEqual(['59', '58']);
  });

  it('that so many proxies have seen, and no farther', async () => {
    expect(await figures(1, ['1.1.1.1', '2.2.2.2', '3.3.3.3, 2.2.2.2'])).toEqual(['59', '59', '58']);
    expect(await figures(2, ['1.1.1.1, 9.9.9.9', '1.1.1.1, 8.8.8.8', '2.2.2.2, 8.8.8.8'])).toEqual(['59', '58', '59']);
  });

  it('that the proxies of a list have seen', async () => {
    expect(await figures(['10.0.0.0/8'], ['1.1.1.1', '2.2.2.2', '2.2.2.2, 10.3.3.3'])).toEqual(['59', '59', '58']);
    expect(await figures(['10.9.9.9'], ['1.1.1.1', '2.2.2.2'])).toEqual(['59', '58']);
  });
});

describe('the key of a request is', () => {
  const sent = (headers: Record<string, string>, rawHeaders = Object.entries(headers).flat()) =>
    sentKey({ headers, rawHeaders });

  it.each([
    ['a bearer token', { authorization: 'Bearer k' }],
    ['a bearer token of any case and distance', { authorization: 'bEARER   k' }],
    ['X-API-Key', { 'x-api-key': 'k' }],
    ['both that agree', { authorization: 'Bearer k', 'x-api-key': 'k' }],
  ])('%s', (_what, headers) => {
    expect(sent(headers)).toEqual({ key: 'k' });
  });

  it('nothing when none is sent', () => {
    expect(sent({})).toBeUndefined();
  });

  it.each([
    ['both that do not agree', { authorization: 'Bearer k', 'x-api-key': 'K' }, /two different keys/],
    ['one that is empty', { authorization: 'Bearer k', 'x-api-key': '' }, /X-API-Key is empty/],
    ['a scheme in X-API-Key', { 'x-api-key': 'Bearer k' }, /X-API-Key has spaces/],
    ['X-API-Key twice, as Node joins it', { 'x-api-key': 'k, k' }, /X-API-Key has spaces/],
    ['another scheme', { authorization: 'Basic k', 'x-api-key': 'k' }, /the scheme "Basic"/],
    ['another scheme without anything', { authorization: 'Basic' }, /the scheme "Basic"/],
    ['no token', { authorization: 'Bearer' }, /says Bearer, but has no key/],
    ['two tokens', { authorization: 'Bearer k k' }, /no spaces/],
    ['no scheme', { authorization: '' }, /no scheme/],
  ])('refused by an error of its own with %s', (_what, headers, words) => {
    expect(sent(headers)).toEqual({ fault: expect.stringMatching(words) });
  });

  it('refused when Authorization is sent twice, of which Node shows the first', () => {
    const rawHeaders = ['Authorization', 'Bearer k', 'AUTHORIZATION', 'Bearer other'];
    expect(sent({ authorization: 'Bearer k' }, rawHeaders)).toEqual({
      fault: expect.stringMatching('several Authorization headers'),
    });
  });
});

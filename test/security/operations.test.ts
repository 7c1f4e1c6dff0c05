import { describe, expect, it } from '@jest/globals';
import type { LightMyRequestResponse } from 'fastify';

import { generateKey } from '../../src/domain/access/api-key.ts';
import { type Scope, scopes } from '../../src/domain/access/scope.ts';
import { startTestApp } from '../support/test-app.ts';
import { operations, type Operation } from './operations.ts';
import { quotaHeaders } from './quota-headers.ts';
import { held } from './rights.ts';

const challenge = 'Bearer realm="petstore"';
const invalid = `${challenge}, error="invalid_token"`;

let address = 0;

// Each request without a key comes from another address, so that none runs out.
const service = await startTestApp({ TRUST_PROXY: '1', BAN_AFTER: '0' });
const [revoked, expired, spent, banned] = await Promise.all([
  service.createKey(),
  service.createKey(),
  service.createKey({ plan: 'enterprise', requestsPerMinute: 1, requestsPerDay: 100 }),
  service.createKey(),
]);
const scoped: Record<string, string> = {};
for (const scope of scopes) scoped[scope] = (await service.createKey({ plan: 'business', scopes: [scope] })).secret;
await service.sql('update api_keys set revoked_at = now() where id = $1', [revoked.id]);
await service.sql(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [expired.id]);
await service.sql(`update api_keys set banned_until = now() + interval '1 hour' where id = $1`, [banned.id]);
expect((await service.graphql('{ __typename }', {}, spent.secret)).status).toBe(200);
const secrets = {
  revoked: revoked.secret,
  expired: expired.secret,
  spent: spent.secret,
  banned: banned.secret,
  ...(scoped as Record<Scope, string>),
};

function send({ request }: Operation, headers: Record<string, string>): Promise<LightMyRequestResponse> {
  address += 1;
  const from = `10.1.${address >> 8}.${address & 255}`;
  return service.app.server.inject({ ...request, headers: { 'x-forwarded-for': from, ...headers } });
}

/** The refusal of the whole request, in the words of its protocol. */
function expectRefusal(
  { protocol }: Operation,
  response: LightMyRequestResponse,
  status: number,
  code: string,
  graphqlCode: string,
): void {
  expect([response.statusCode, response.headers['cache-control']]).toEqual([status, 'no-store']);
  expect(response.headers).toMatchObject(quotaHeaders);
  const extensions = expect.objectContaining({ code: graphqlCode, status });
  expect(response.json()).toEqual(
    protocol === 'rest'
      ? { status, code, message: expect.any(String) }
      : { errors: [{ message: expect.any(String), extensions }] },
  );
}

describe.each(operations)('$name', (operation) => {
  it.each<[string, () => Record<string, string>, string]>([
    ['no key', () => ({}), challenge],
    ['a malformed key', () => ({ authorization: 'Bearer petstore_tooShort' }), invalid],
    ['a key of another scheme', () => ({ authorization: `Basic ${secrets.admin}` }), invalid],
    ['an unknown key', () => ({ authorization: `Bearer ${generateKey()}` }), invalid],
    ['a revoked key', () => ({ 'x-api-key': secrets.revoked }), invalid],
    ['an expired key', () => ({ authorization: `Bearer ${secrets.expired}` }), invalid],
    ['two keys', () => ({ authorization: `Bearer ${secrets.admin}`, 'x-api-key': secrets.write }), invalid],
  ])('is 401 with %s', async (_what, headers, expectedChallenge) => {
    const response = await send(operation, headers());
    expectRefusal(operation, response, 401, 'unauthorized', 'UNAUTHENTICATED');
    expect(response.headers['www-authenticate']).toBe(expectedChallenge);
    expect(response.headers['x-ratelimit-limit']).toBe('60');
  });

  it('is 429 with Retry-After when the quota is spent', async () => {
    const response = await send(operation, { 'x-api-key': secrets.spent });
    expectRefusal(operation, response, 429, 'rate_limited', 'RATE_LIMITED');
    expect(response.headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  it('is 403 with a banned key, until the end of the ban', async () => {
    const response = await send(operation, { 'x-api-key': secrets.banned });
    expectRefusal(operation, response, 403, 'key_banned', 'KEY_BANNED');
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(3500);
    expect(response.headers['x-ratelimit-remaining']).toBe('60');
  });

  const missing = (scope: Scope) => operation.scopes.find((needed) => !held[scope].includes(needed));

  it('is forbidden to a key without the scope', async () => {
    for (const scope of scopes.filter(missing)) {
      const response = await send(operation, { 'x-api-key': secrets[scope] });
      expect(response.headers).toMatchObject(quotaHeaders);
      expect(response.body).toMatch(`This needs a key with the scope ${missing(scope)}, but yours has ${scope}.`);
      if (operation.protocol === 'rest') {
        expectRefusal(operation, response, 403, 'forbidden', 'FORBIDDEN');
        expect(response.headers['www-authenticate']).toBe(`${challenge}, error="insufficient_scope"`);
      } else {
        expect(response.statusCode).toBe(200);
        expect(response.json().errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', status: 403 } }]);
      }
    }
  });

  it.each(scopes.filter((scope) => missing(scope) === undefined))(
    'is open to a key with the scope %s, sent either way',
    async (scope) => {
      for (const headers of [{ 'x-api-key': secrets[scope] }, { authorization: `bearer ${secrets[scope]}` }]) {
        const response = await send(operation, headers);
        expect(response.headers).toMatchObject({ ...quotaHeaders, 'x-ratelimit-limit': '1000' });
        expect([401, 403, 429, 500, 503]).not.toContain(response.statusCode);
        expect(response.body).not.toMatch(/FORBIDDEN|UNAUTHENTICATED/);
      }
    },
  );
});

it('lets a request through whose two headers agree', async () => {
  const [operation] = operations;
  const response = await send(operation!, { authorization: `Bearer ${secrets.read}`, 'x-api-key': secrets.read });
  expect(response.statusCode).toBe(200);
});

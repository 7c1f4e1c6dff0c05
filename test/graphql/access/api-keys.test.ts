import { describe, expect, it } from '@jest/globals';

import { startTestApp, type GraphQLResult } from '../../support/test-app.ts';

const adminKey = 'the-administrator-of-this-very-suite-0001';
const fields = 'id name plan scopes requestsPerMinute requestsPerDay expiresAt bannedUntil revokedAt prefix createdAt';

const store = await startTestApp({ ADMIN_API_KEY: adminKey });

function administer(query: string, input?: object): Promise<GraphQLResult> {
  return store.graphql(query, input === undefined ? {} : { input }, adminKey);
}

function create(input: object): Promise<GraphQLResult> {
  return administer(
    `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { ${fields} } } }`,
    input,
  );
}

async function created(input: object = {}): Promise<{ id: string; secret: string }> {
  const figures = { plan: 'ENTERPRISE', requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };
  const { data } = await create({ name: 'Shop', ...figures, ...input });
  return { id: data.createApiKey.apiKey.id, secret: data.createApiKey.secret };
}

function use(key: string): Promise<GraphQLResult> {
  return store.graphql('{ pets(first: 1) { totalCount } }', {}, key);
}

describe('an administrator', () => {
  it('makes a key that works at once, and sees all of it but the secret afterwards', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const { data } = await create({ name: ' Partner ', plan: 'PRO', scopes: ['READ'], expiresAt });
    const { secret, apiKey } = data.createApiKey;
    expect(apiKey).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'Partner',
      plan: 'PRO',
      scopes: ['READ'],
      requestsPerMinute: 300,
      requestsPerDay: 10_000,
      expiresAt,
      bannedUntil: null,
      revokedAt: null,
      prefix: String(secret).slice(0, 13),
      createdAt: expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await use(secret)).toMatchObject({ status: 200, errors: [] });
    const list = await administer(`{ apiKeys(last: 1) { edges { node { ${fields} } } } }`);
    expect(list.data.apiKeys.edges).toEqual([{ node: apiKey }]);
    const rows = await administer(`{ apiKeys(last: 1) { nodes { ${fields} } } }`);
    expect(rows.data.apiKeys.nodes).toEqual([apiKey]);
  });

  it('gives a key READ and WRITE when nothing else is said', async () => {
    const { data } = await create({ name: 'Plain', plan: 'FREE' });
    expect(data.createApiKey.apiKey).toMatchObject({ scopes: ['READ', 'WRITE'], requestsPerMinute: 60 });
  });

  it('changes the plan, bans, unbans and revokes, each of which holds for the very next request', async () => {
    const { id, secret } = await created();
    expect(await use(secret)).toMatchObject({ status: 200 });

    const plan = `mutation ($input: SetApiKeyPlanInput!) { setApiKeyPlan(input: $input) { apiKey { ${fields} } } }`;
    const figures = { requestsPerMinute: 500_000, requestsPerDay: 600_000 };
    const changed = await administer(plan, { id, plan: 'ENTERPRISE', ...figures });
    expect(changed.data.setApiKeyPlan.apiKey).toMatchObject({ id, plan: 'ENTERPRISE', ...figures });
    expect((await use(secret)).headers['x-ratelimit-limit']).toBe('500000');

    const ban = 'mutation ($input: BanApiKeyInput!) { banApiKey(input: $input) { apiKey { bannedUntil } } }';
    const bannedFrom = Date.now();
    const banned = await administer(ban, { id, seconds: 600 });
    const length = Date.parse(banned.data.banApiKey.apiKey.bannedUntil) - bannedFrom;
    expect(Math.round(length / 10_000)).toBe(60);
    expect((await use(secret)).status).toBe(403);

    const unban = 'mutation ($input: UnbanApiKeyInput!) { unbanApiKey(input: $input) { apiKey { bannedUntil } } }';
    expect((await administer(unban, { id })).data).toEqual({ unbanApiKey: { apiKey: { bannedUntil: null } } });
    expect((await use(secret)).status).toBe(200);

    const revoke = 'mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { revokedAt } } }';
    const revoked = await administer(revoke, { id });
    const { revokedAt } = revoked.data.revokeApiKey.apiKey;
    expect(Date.parse(revokedAt)).toBeLessThanOrEqual(Date.now());
    expect((await use(secret)).status).toBe(401);
    // For ever, and since then.
    expect((await administer(revoke, { id })).data.revokeApiKey.apiKey).toEqual({ revokedAt });
  });

  it.each([
    ['a blank name', { name: '  ', plan: 'FREE' }, ['name']],
    ['an enterprise key without figures', { name: 'x', plan: 'ENTERPRISE' }, ['requestsPerMinute', 'requestsPerDay']],
    ['figures of a plan that has its own', { name: 'x', plan: 'FREE', requestsPerDay: 5 }, ['requestsPerDay']],
    [
      'a figure of nothing',
      { name: 'x', plan: 'ENTERPRISE', requestsPerMinute: 0, requestsPerDay: 1 },
      ['requestsPerMinute'],
    ],
    ['no scope at all', { name: 'x', plan: 'FREE', scopes: [] }, ['scopes']],
    ['an expiry in the past', { name: 'x', plan: 'FREE', expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
    ['an impossible expiry', { name: 'x', plan: 'FREE', expiresAt: '2030-02-30T00:00:00Z' }, ['expiresAt']],
  ])('gets an error that says what is wrong with %s', async (_, input, wrong) => {
    const { data, errors } = await create(input);
    expect(data).toEqual({ createApiKey: null });
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
    expect(errors[0]?.extensions.violations?.map(({ field }) => field)).toEqual(wrong);
  });

  it('gets an error for a ban of less than a second', async () => {
    const { id } = await created();
    const ban = 'mutation ($input: BanApiKeyInput!) { banApiKey(input: $input) { apiKey { id } } }';
    const { errors } = await administer(ban, { id, seconds: 0 });
    expect(errors[0]?.extensions.violations?.map(({ field }) => field)).toEqual(['seconds']);
  });

  it('gets NOT_FOUND for a key that does not exist, from every mutation', async () => {
    for (const id of ['999999', '007', 'abc']) {
      const { errors } = await administer(`mutation {
        revokeApiKey(input: { id: "${id}" }) { apiKey { id } }
        banApiKey(input: { id: "${id}", seconds: 1 }) { apiKey { id } }
        unbanApiKey(input: { id: "${id}" }) { apiKey { id } }
        setApiKeyPlan(input: { id: "${id}", plan: FREE }) { apiKey { id } }
      }`);
      expect(errors.map(({ extensions }) => extensions.code)).toEqual(Array(4).fill('NOT_FOUND'));
    }
  });

  it('pages through the keys, forwards and backwards', async () => {
    for (const name of ['A', 'B', 'C']) await created({ name });
    const page = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } totalCount';
    const all = (await administer(`{ apiKeys(first: 100) { ${page} } }`)).data.apiKeys;
    expect(all.totalCount).toBe(all.edges.length);
    const [before, ...lastTwo] = (all.edges as { cursor: string }[]).slice(-3);
    const forwards = (await administer(`{ apiKeys(first: 5, after: "${before!.cursor}") { ${page} } }`)).data.apiKeys;
    expect(forwards).toMatchObject({ edges: lastTwo, pageInfo: { hasNextPage: false, hasPreviousPage: true } });
    const backwards = (await administer(`{ apiKeys(last: 2) { ${page} } }`)).data.apiKeys;
    expect(backwards).toMatchObject({ edges: lastTwo, pageInfo: { hasPreviousPage: true } });
  });
});

describe('other keys', () => {
  it('may neither see nor change keys, not even its own', async () => {
    const { id, secret } = await created({ scopes: ['READ', 'WRITE'] });
    const { data, errors } = await store.graphql(
      `mutation {
        createApiKey(input: { name: "x", plan: BUSINESS, scopes: [ADMIN] }) { secret }
        revokeApiKey(input: { id: ${id} }) { apiKey { id } }
        banApiKey(input: { id: ${id}, seconds: 1 }) { apiKey { id } }
        unbanApiKey(input: { id: ${id} }) { apiKey { id } }
        setApiKeyPlan(input: { id: ${id}, plan: BUSINESS }) { apiKey { id } }
      }`,
      {},
      secret,
    );
    expect(Object.values(data as object)).toEqual(Array(5).fill(null));
    expect(errors.map(({ extensions: { code, status } }) => `${code} ${status}`)).toEqual(
      Array(5).fill('FORBIDDEN 403'),
    );
    const list = await store.graphql('{ apiKeys { totalCount } }', {}, secret);
    expect(list).toMatchObject({
      status: 200,
      data: { apiKeys: null },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
  });
});

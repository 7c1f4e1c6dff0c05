import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import type { GraphQLEnumType } from 'graphql';

import { planLimits, planNames } from '../../../src/domain/access/plan.ts';
import { createSchema } from '../../../src/graphql/schema.ts';
import { startAdministration } from './administration.ts';

const usage = 'usage { minute { spent limit resetAt } day { spent limit resetAt } }';
const everyField =
  'id name plan scopes requestsPerMinute requestsPerDay expiresAt bannedUntil revokedAt prefix createdAt';

const { store, administer, change, create, key, use } = await startAdministration();

it('a key works at once, and all of it but the secret is seen afterwards', async () => {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const input = { name: ' Partner ', plan: 'PRO', scopes: ['READ'], expiresAt };
  const { secret, apiKey } = (await change('createApiKey', input, everyField)).data.result;
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
  expect(await use(secret)).toEqual([200]);
  const { data } = await administer(
    `{ apiKeys(last: 1) { edges { node { ${everyField} } } nodes { ${everyField} } } }`,
  );
  expect(data.apiKeys).toEqual({ edges: [{ node: apiKey }], nodes: [apiKey] });
});

describe.each(planNames)('the plan %s', (plan) => {
  const limits = planLimits[plan];
  const [name, own] = [plan.toUpperCase(), { requestsPerMinute: 7, requestsPerDay: 70 }];
  const figures = limits === undefined ? [] : [limits.requestsPerMinute, limits.requestsPerDay];

  it('has keys, whose figures are its own or theirs', async () => {
    const { id, secret } = await create({ plan: name, ...(limits === undefined ? own : {}) });
    const { headers } = await store.graphql('{ __typename }', {}, secret);
    const { requestsPerMinute, requestsPerDay } = limits ?? own;
    expect(headers['ratelimit-policy']).toBe(`"minute";q=${requestsPerMinute};w=60, "day";q=${requestsPerDay};w=86400`);
    const { id: other } = await create();
    const given = limits === undefined ? { plan: name, ...own } : { plan: name };
    const changed = await change('setApiKeyPlan', { id: other, ...given }, 'plan');
    expect(changed.data.result.apiKey.plan).toBe(name);
    expect((await administer(`{ apiKey(id: "${id}") { plan } }`)).data.apiKey.plan).toBe(name);
  });

  it('is described with its figures', () => {
    const described = (createSchema().getType('Plan') as GraphQLEnumType).getValue(name)?.description;
    for (const figure of figures) expect(described).toContain(figure.toLocaleString('en'));
    const readme = readFileSync('README.md', 'utf8').split('\n');
    const row =
      readme.find((line) => line.toLowerCase().startsWith(`| ${plan} |`)) ?? `README.md has no row for ${plan}`;
    for (const figure of figures) expect(row).toContain(figure.toLocaleString('en'));
  });
});

it('a new plan, a ban, its end and the revocation hold for the very next request', async () => {
  const { id, secret } = await create();
  const figures = { requestsPerMinute: 500_000, requestsPerDay: 600_000 };
  const changed = await change('setApiKeyPlan', { id, plan: 'ENTERPRISE', ...figures }, everyField);
  expect(changed.data.result.apiKey).toMatchObject({ id, plan: 'ENTERPRISE', ...figures });
  const { headers } = await store.graphql('{ __typename }', {}, secret);
  expect(headers['x-ratelimit-limit']).toBe('500000');

  const bannedFrom = Date.now();
  const banned = await change('banApiKey', { id, seconds: 600 }, 'bannedUntil');
  const length = Date.parse(banned.data.result.apiKey.bannedUntil) - bannedFrom;
  expect(Math.round(length / 10_000)).toBe(60);
  expect(await use(secret)).toEqual([403]);

  expect((await change('unbanApiKey', { id }, 'bannedUntil')).data.result.apiKey).toEqual({ bannedUntil: null });
  expect(await use(secret)).toEqual([200]);

  const { apiKey } = (await change('revokeApiKey', { id }, 'revokedAt')).data.result;
  expect(Date.parse(apiKey.revokedAt)).toBeLessThanOrEqual(Date.now());
  expect(await use(secret)).toEqual([401]);
  // For ever, and since then.
  expect((await change('revokeApiKey', { id }, 'revokedAt')).data.result.apiKey).toEqual(apiKey);
});

const made = { name: 'x', plan: 'FREE' };

/** Controls of the direction of text. */
const directed = ['\u202a', '\u202e', '\u2066', '\u2069'].map((control) => ({ name: `a${control}b` }));

it.each<[what: string, mutation: string, input: object, ...wrong: string[]]>([
  ...directed.flatMap(({ name }): [string, string, object, string][] => [
    [`a name that is ${JSON.stringify(name)}`, 'createApiKey', { ...made, name }, 'name'],
    [`another name that is ${JSON.stringify(name)}`, 'updateApiKey', { name }, 'name'],
  ]),
  ['a blank name', 'createApiKey', { ...made, name: '  ' }, 'name'],
  [
    'an enterprise key without figures',
    'createApiKey',
    { ...made, plan: 'ENTERPRISE' },
    'requestsPerMinute',
    'requestsPerDay',
  ],
  ['figures of a plan that has its own', 'createApiKey', { ...made, requestsPerDay: 5 }, 'requestsPerDay'],
  [
    'a figure of nothing',
    'createApiKey',
    { ...made, plan: 'ENTERPRISE', requestsPerMinute: 0, requestsPerDay: 1 },
    'requestsPerMinute',
  ],
  ['no scope at all', 'createApiKey', { ...made, scopes: [] }, 'scopes'],
  ['an expiry in the past', 'createApiKey', { ...made, expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ['an impossible expiry', 'createApiKey', { ...made, expiresAt: '2030-02-30T00:00:00Z' }, 'expiresAt'],
  ['no change', 'updateApiKey', {}, 'input'],
  ['no name', 'updateApiKey', { name: null }, 'name'],
  ['no scope', 'updateApiKey', { scopes: [] }, 'scopes'],
  ['an expiry in the past', 'updateApiKey', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ['a ban of less than a second', 'banApiKey', { seconds: 0 }, 'seconds'],
  ['an overlap of less than nothing', 'rotateApiKey', { overlapSeconds: -1 }, 'overlapSeconds'],
  ['an overlap of more than 30 days', 'rotateApiKey', { overlapSeconds: 2_592_001 }, 'overlapSeconds'],
])('%s is named by %s', async (_what, mutation, input, ...wrong) => {
  const named = mutation === 'createApiKey' ? {} : { id: (await create()).id };
  const { data, errors } = await change(mutation, { ...named, ...input });
  expect(data).toEqual({ result: null });
  expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  expect(errors[0]?.extensions.violations?.map(({ field }) => field)).toEqual(wrong);
});

it.each([
  ['revokeApiKey', {}],
  ['banApiKey', { seconds: 1 }],
  ['unbanApiKey', {}],
  ['setApiKeyPlan', { plan: 'FREE' }],
  ['updateApiKey', { name: 'x' }],
  ['rotateApiKey', {}],
])('%s finds no key by an id of none', async (mutation, input) => {
  for (const id of ['999999', '007', 'abc']) {
    expect((await change(mutation, { id, ...input })).codes).toEqual(['NOT_FOUND']);
  }
});

describe('a key', () => {
  it('shows what it has spent and when it was used last, at once', async () => {
    const { id, secret } = await create();
    expect(await key(id, `lastUsedAt status ${usage}`)).toMatchObject({
      lastUsedAt: null,
      status: 'ACTIVE',
      usage: { minute: { spent: 0, limit: 60 }, day: { spent: 0, limit: 1_000 } },
    });
    const before = Date.now();
    await use(secret, 3);
    const used = await key(id, `lastUsedAt ${usage}`);
    expect(used.usage).toMatchObject({ minute: { spent: 3, limit: 60 }, day: { spent: 3, limit: 1_000 } });
    expect(Date.parse(used.lastUsedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(used.usage.minute.resetAt) - before).toBeLessThanOrEqual(61_000);
    for (const revocation of ['the first', 'one that changes nothing']) {
      const { data } = await change('revokeApiKey', { id }, `lastUsedAt ${usage}`);
      expect([revocation, data.result.apiKey]).toEqual([revocation, used]);
    }
  });

  it('is null when there is none with this id', async () => {
    expect(await administer('{ apiKey(id: "999999") { id } }')).toMatchObject({ data: { apiKey: null }, errors: [] });
    expect(await administer('{ apiKey(id: "x") { id } }')).toMatchObject({ data: { apiKey: null }, errors: [] });
  });

  it('is renamed, rescoped and prolonged; null takes its expiry away', async () => {
    const { id } = await create({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
    const fields = 'name scopes expiresAt';
    const { data } = await change('updateApiKey', { id, name: ' Store ', scopes: ['READ'], expiresAt: null }, fields);
    expect(data.result.apiKey).toEqual({ name: 'Store', scopes: ['READ'], expiresAt: null });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    expect((await change('updateApiKey', { id, expiresAt }, fields)).data.result.apiKey).toEqual({
      name: 'Store',
      scopes: ['READ'],
      expiresAt,
    });
  });

  it('keeps its id, quota and bans when it is rotated, and both secrets are good for the overlap', async () => {
    const { id, secret } = await create();
    await use(secret, 2);
    const fields = `id prefix previousSecretExpiresAt ${usage}`;
    const { data } = await change('rotateApiKey', { id }, fields);
    const { secret: second, apiKey } = data.result;
    expect(apiKey).toMatchObject({ id, prefix: String(second).slice(0, 13), usage: { minute: { spent: 2 } } });
    expect(Math.round((Date.parse(apiKey.previousSecretExpiresAt) - Date.now()) / 3_600_000)).toBe(24);
    expect([await use(secret), await use(second)]).toEqual([[200], [200]]);
    expect(await key(id, usage)).toMatchObject({ usage: { minute: { spent: 4 } } });

    // Rotating again ends the older one at once.
    const third = (await change('rotateApiKey', { id, overlapSeconds: 60 })).data.result.secret;
    expect([await use(secret), await use(second), await use(third)]).toEqual([[401], [200], [200]]);
    const fourth = (await change('rotateApiKey', { id, overlapSeconds: 0 })).data.result.secret;
    expect([await use(second), await use(third), await use(fourth)]).toEqual([[401], [401], [200]]);
    expect(await key(id, 'previousSecretExpiresAt')).toEqual({ previousSecretExpiresAt: null });
  });

  it("never has an old secret that is good for longer than the key's expiry", async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { id, secret } = await create({ expiresAt });
    const { data } = await change('rotateApiKey', { id, overlapSeconds: 86_400 }, 'previousSecretExpiresAt');
    expect(data.result.apiKey.previousSecretExpiresAt).toBe(expiresAt);
    await store.sql('update api_keys set expires_at = now() where id = $1', [id]);
    await change('updateApiKey', { id: (await create()).id, name: 'so that it is read' });
    expect(await use(secret)).toEqual([401]);
  });

  it('may expire at the very end of the years, by SQL too, and is listed so', async () => {
    const { id, secret } = await create();
    const expiresAt = '9999-12-31T23:59:59.999Z';
    await store.sql('update api_keys set expires_at = $1 where id = $2', [expiresAt, id]);
    expect(await key(id, 'expiresAt')).toEqual({ expiresAt });
    const { data } = await store.graphql('{ viewer { expiresAt } }', {}, secret);
    expect(data).toEqual({ viewer: { expiresAt } });
    for (const column of ['expires_at', 'banned_until']) {
      await expect(store.sql(`update api_keys set ${column} = 'infinity' where id = $1`, [id])).rejects.toThrow(
        /api_keys_years_1_to_9999/,
      );
    }
  });

  it('can not be rotated when it is revoked or expired', async () => {
    const { id } = await create();
    await store.sql("update api_keys set expires_at = now() - interval '1 hour' where id = $1", [id]);
    expect((await change('rotateApiKey', { id })).codes).toEqual(['CONFLICT']);
    expect(await key(id, 'status')).toEqual({ status: 'EXPIRED' });
    await change('revokeApiKey', { id });
    expect((await change('rotateApiKey', { id })).codes).toEqual(['CONFLICT']);
    expect(await key(id, 'status')).toEqual({ status: 'REVOKED' });
  });
});

describe('a list of keys', () => {
  it('is paged, forwards and backwards', async () => {
    for (const name of ['A', 'B', 'C']) await create({ name });
    const page = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } totalCount';
    const all = (await administer(`{ apiKeys(first: 100) { ${page} } }`)).data.apiKeys;
    expect(all.totalCount).toBe(all.edges.length);
    const [before, ...lastTwo] = (all.edges as { cursor: string }[]).slice(-3);
    const forwards = (await administer(`{ apiKeys(first: 5, after: "${before!.cursor}") { ${page} } }`)).data.apiKeys;
    expect(forwards).toMatchObject({ edges: lastTwo, pageInfo: { hasNextPage: false, hasPreviousPage: true } });
    const backwards = (await administer(`{ apiKeys(last: 2) { ${page} } }`)).data.apiKeys;
    expect(backwards).toMatchObject({ edges: lastTwo, pageInfo: { hasPreviousPage: true } });
  });

  it('is filtered by name, plan, status and what they have spent', async () => {
    const { id: active, secret } = await create({
      name: 'Filter 100%',
      plan: 'ENTERPRISE',
      requestsPerMinute: 10,
      requestsPerDay: 1_000,
    });
    const [banned, expired, revoked] = await Promise.all([
      create({ name: 'Filter banned' }),
      create({ name: 'Filter expired', plan: 'PRO' }),
      create({ name: 'Filter revoked', plan: 'PRO' }),
    ]);
    await change('banApiKey', { id: banned.id, seconds: 60 });
    await store.sql("update api_keys set expires_at = now() - interval '1 hour' where id = $1", [expired.id]);
    await change('banApiKey', { id: expired.id, seconds: 60 });
    await change('revokeApiKey', { id: revoked.id });
    const list = async (filter: string): Promise<string[]> => {
      const query = `{ apiKeys(first: 100, filter: { nameContains: "fIlTeR" ${filter} }) { totalCount edges { node { id } } } }`;
      const { totalCount, edges } = (await administer(query)).data.apiKeys;
      const ids = (edges as { node: { id: string } }[]).map(({ node }) => node.id);
      expect(totalCount).toBe(ids.length);
      return ids;
    };
    expect(await list('')).toEqual(
      [active, banned.id, expired.id, revoked.id].toSorted((a, b) => Number(a) - Number(b)),
    );
    expect(await list('status: ACTIVE')).toEqual([active]);
    expect(await list('status: BANNED')).toEqual([banned.id]);
    expect(await list('status: EXPIRED')).toEqual([expired.id]);
    expect(await list('status: REVOKED')).toEqual([revoked.id]);
    expect(await list('plan: PRO')).toEqual([expired.id, revoked.id].toSorted((a, b) => Number(a) - Number(b)));
    await use(secret, 7);
    expect(await list('nearLimitPercent: 80')).toEqual([]);
    await use(secret);
    expect(await list('nearLimitPercent: 80')).toEqual([active]);
    const { errors } = await administer('{ apiKeys(filter: { nearLimitPercent: 101 }) { totalCount } }');
    expect(errors[0]?.extensions.violations?.map(({ field }) => field)).toEqual(['filter.nearLimitPercent']);
  });
});

describe('the holder of a key', () => {
  const viewer =
    '{ viewer { name plan scopes expiresAt minute { limit remaining resetAt } day { limit remaining resetAt } } }';

  it('sees its own plan, whatever its scope, at no cost, as often per minute as the plan has requests', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { secret } = await create({
      name: 'Reader',
      plan: 'ENTERPRISE',
      requestsPerMinute: 3,
      requestsPerDay: 100,
      scopes: ['READ'],
      expiresAt,
    });
    await use(secret);
    const remaining: number[] = [];
    for (let request = 0; request < 4; request += 1) {
      const { data } = await store.graphql(viewer, {}, secret);
      expect(data.viewer).toMatchObject({ name: 'Reader', plan: 'ENTERPRISE', scopes: ['READ'], expiresAt });
      expect(data.viewer.minute.limit).toBe(3);
      remaining.push(data.viewer.day.remaining);
    }
    expect(remaining).toEqual([99, 99, 99, 98]);
    const { data } = await store.graphql('{ rateLimit { cost } viewer { name } }', {}, secret);
    expect(data).toEqual({ rateLimit: { cost: 1 }, viewer: { name: 'Reader' } });
  });

  it('as the administrator has the plan Business and no expiry', async () => {
    const { data } = await administer(viewer);
    expect(data.viewer).toMatchObject({ name: 'ADMIN_API_KEY', plan: 'BUSINESS', scopes: ['ADMIN'], expiresAt: null });
    expect(data.viewer.minute.limit).toBe(1_000);
  });
});

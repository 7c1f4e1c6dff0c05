import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startTestApp, type GraphQLResult, type TestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const adminKey = 'the-administrator-of-this-very-suite-0002';
const usage = 'usage { minute { spent limit resetAt } day { spent limit resetAt } }';
const history = 'history(first: 10) { edges { node { at by action changes } } totalCount }';

let store: TestApp;
const lines: string[] = [];

beforeAll(async () => {
  const logStream = { write: (line: string) => void lines.push(line) };
  store = await startTestApp({ ADMIN_API_KEY: adminKey, LOG_LEVEL: 'info', BAN_AFTER: '1' }, { logStream });
});

afterAll(() => store.close());

function administer(query: string, variables: Record<string, unknown> = {}): Promise<GraphQLResult> {
  return store.graphql(query, variables, adminKey);
}

async function change(mutation: string, input: object, fields = 'id'): Promise<GraphQLResult> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
  const secret = ['createApiKey', 'rotateApiKey'].includes(mutation) ? 'secret' : '';
  const query = `mutation ($input: ${type}!) { result: ${mutation}(input: $input) { ${secret} apiKey { ${fields} } } }`;
  return administer(query, { input });
}

async function create(input: object = {}): Promise<{ id: string; secret: string }> {
  const { data } = await change('createApiKey', { name: 'Shop', plan: 'FREE', ...input });
  return { id: data.result.apiKey.id, secret: data.result.secret };
}

// oxlint-disable-next-line typescript/no-explicit-any -- what a key holds is each test's own to say
async function key(id: string, fields: string): Promise<any> {
  return (await administer(`{ apiKey(id: "${id}") { ${fields} } }`)).data.apiKey;
}

async function use(secret: string, times = 1): Promise<number[]> {
  const statuses: number[] = [];
  for (let request = 0; request < times; request += 1) {
    statuses.push((await store.graphql('{ __typename }', {}, secret)).status);
  }
  return statuses;
}

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
    for (const [wrong, field] of [
      [{}, 'input'],
      [{ name: null }, 'name'],
      [{ scopes: [] }, 'scopes'],
      [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ] as const) {
      const { errors } = await change('updateApiKey', { id, ...wrong });
      expect(errors[0]?.extensions.violations?.map((violation) => violation.field)).toEqual([field]);
    }
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

  it('can not be rotated when it is revoked or expired, nor for more than 30 days', async () => {
    const { id } = await create();
    for (const overlapSeconds of [-1, 2_592_001]) {
      const { errors } = await change('rotateApiKey', { id, overlapSeconds });
      expect(errors[0]?.extensions.violations?.map(({ field }) => field)).toEqual(['overlapSeconds']);
    }
    await store.sql("update api_keys set expires_at = now() - interval '1 hour' where id = $1", [id]);
    expect((await change('rotateApiKey', { id })).errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      status: 409,
    });
    expect(await key(id, 'status')).toEqual({ status: 'EXPIRED' });
    await change('revokeApiKey', { id });
    expect((await change('rotateApiKey', { id })).errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      status: 409,
    });
    expect(await key(id, 'status')).toEqual({ status: 'REVOKED' });
  });
});

describe('the history of a key', () => {
  it('has every change, latest first, with who made it and without a secret, also past the program', async () => {
    const { id, secret } = await create({ name: 'Watched' });
    const { secret: another } = await create({ scopes: ['ADMIN'] });
    const { data } = await store.graphql('{ apiKeys(last: 1) { edges { node { id } } } }', {}, another);
    const administrator = data.apiKeys.edges[0].node.id;
    const ban = `mutation { banApiKey(input: { id: "${id}", seconds: 60 }) { apiKey { id } } }`;
    await store.graphql(ban, {}, another);
    await change('unbanApiKey', { id });
    await change('setApiKeyPlan', { id, plan: 'PRO' });
    const rotated = (await change('rotateApiKey', { id })).data.result.secret;
    await store.sql('update api_keys set name = $1 where id = $2', ['By SQL', id]);
    await change('revokeApiKey', { id });
    // What changes nothing leaves no trace.
    await change('revokeApiKey', { id });
    const { edges, totalCount } = (await key(id, history)).history;
    const nodes = (edges as { node: { at: string; by: string; action: string; changes: string[] } }[]).map(
      ({ node }) => node,
    );
    expect(nodes.map(({ by, action }) => `${by} ${action}`)).toEqual([
      'ADMIN_API_KEY REVOKED',
      'sql UPDATED',
      'ADMIN_API_KEY ROTATED',
      'ADMIN_API_KEY PLAN_CHANGED',
      'ADMIN_API_KEY UNBANNED',
      `${administrator} BANNED`,
      'ADMIN_API_KEY CREATED',
    ]);
    expect(totalCount).toBe(7);
    expect(nodes[1]?.changes).toEqual(['name: Watched → By SQL']);
    expect(nodes[3]?.changes).toEqual(['plan: free → pro']);
    for (const text of [secret, rotated, 'sha256']) expect(JSON.stringify(nodes)).not.toContain(text);
  });

  it('is a log line for each change, by whichever actor, once and without a secret', async () => {
    const { id, secret } = await create({ name: 'Logged' });
    await change('setApiKeyPlan', { id, plan: 'PRO' });
    await store.sql('delete from api_keys where id = $1', [id]);
    const loggedOf = (of: string): Record<string, unknown>[] =>
      lines
        .map((line) => JSON.parse(line))
        .filter(({ msg, key: subject }) => msg === 'api key changed' && subject === of);
    await until(() => loggedOf(id).length >= 3);
    // What comes after it has been logged, so nothing is logged twice.
    const { id: next } = await create();
    await until(() => loggedOf(next).length > 0);
    expect(loggedOf(id)).toMatchObject([
      {
        level: 30,
        by: 'ADMIN_API_KEY',
        action: 'created',
        at: expect.any(String),
        changes: { name: { to: 'Logged' } },
      },
      { by: 'ADMIN_API_KEY', action: 'plan_changed', changes: { plan: { from: 'free', to: 'pro' } } },
      { name: 'Logged', by: 'sql', action: 'deleted' },
    ]);
    expect(lines.join('')).not.toContain(secret);
  });

  it('is a summary in the log for those beyond a hundred changes at once', async () => {
    await store.sql(`insert into api_keys (name, prefix, sha256, plan, scopes)
      select 'Imported', 'petstore_many', encode(sha256(n::text::bytea), 'hex'), 'free', '{read}' from generate_series(1, 5000) as n`);
    const summary = (): string | undefined => lines.find((line) => line.includes('more api keys changed'));
    await until(() => summary() !== undefined);
    expect(JSON.parse(summary() ?? '')).toMatchObject({ count: 4_900, first: { by: 'sql', action: 'created' } });
    expect(lines.filter((line) => line.includes('"Imported"'))).toHaveLength(100);
  });

  it('is paged', async () => {
    const { id } = await create();
    for (const name of ['A', 'B', 'C']) await change('updateApiKey', { id, name });
    const page = 'edges { cursor node { changes } } pageInfo { hasNextPage }';
    const first = (await key(id, `history(first: 2) { ${page} }`)).history;
    expect(first.pageInfo.hasNextPage).toBe(true);
    const rest = (await key(id, `history(first: 5, after: "${first.edges[1].cursor}") { ${page} }`)).history;
    expect((rest.edges as { node: { changes: string[] } }[]).map(({ node }) => node.changes[0])).toEqual([
      'name: Shop → A',
      expect.stringContaining('name: Shop'),
    ]);
    expect(rest.pageInfo.hasNextPage).toBe(false);
  });

  it('has the automatic bans of the service', async () => {
    const { id, secret } = await create({ plan: 'ENTERPRISE', requestsPerMinute: 1, requestsPerDay: 10 });
    const statuses = await use(secret, 2);
    expect(statuses).toEqual([200, 429]);
    await until(async () => (await use(secret))[0] !== 429);
    // The ban is saved beside the request that it refuses.
    await until(async () => (await key(id, 'status')).status === 'BANNED');
    const { edges } = (await key(id, history)).history;
    expect(edges[0].node).toMatchObject({ by: 'service', action: 'BANNED' });
    const isBan = (line: string): boolean => line.includes('"by":"service","action":"banned"');
    await until(() => lines.some(isBan));
    expect(JSON.parse(lines.find(isBan) ?? '')).toMatchObject({ msg: 'api key changed', key: id });
  });

  it('keeps the last 1,000 changes', async () => {
    const { id } = await create();
    await store.sql(
      `do $$ begin for n in 1..1003 loop update api_keys set name = 'n' || n where id = ${id}; end loop; end $$`,
    );
    const { history: all } = await key(
      id,
      'history(first: 1) { totalCount edges { node { changes } } nodes { changes } }',
    );
    const changes = ['name: n1002 → n1003'];
    expect(all).toEqual({ totalCount: 1_000, edges: [{ node: { changes } }], nodes: [{ changes }] });
  });
});

describe('a list of keys', () => {
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

import { describe, expect, it } from '@jest/globals';

import { startAdministration } from './administration.ts';

const usage = 'usage { minute { spent limit resetAt } day { spent limit resetAt } }';

const { store, administer, change, create, key, use } = await startAdministration();

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

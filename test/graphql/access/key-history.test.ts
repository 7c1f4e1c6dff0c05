import { describe, expect, it } from '@jest/globals';

import { until } from '../../support/until.ts';
import { startAdministration } from './administration.ts';

const history = 'history(first: 10) { edges { node { at by action changes } } totalCount }';

const { store, change, create, key, use } = await startAdministration();

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
      store.log.filter(({ msg, key: subject }) => msg === 'api key changed' && subject === of);
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
    expect(JSON.stringify(store.log)).not.toContain(secret);
  });

  it('is a summary in the log for those beyond a hundred changes at once', async () => {
    await store.sql(`insert into api_keys (name, prefix, sha256, plan, scopes)
      select 'Imported', 'petstore_many', encode(sha256(n::text::bytea), 'hex'), 'free', '{read}' from generate_series(1, 500) as n`);
    const summary = () => store.log.find(({ msg }) => String(msg).startsWith('more api keys changed'));
    await until(() => summary() !== undefined);
    expect(summary()).toMatchObject({ count: 400, first: { by: 'sql', action: 'created' } });
    expect(store.log.filter(({ msg, name }) => msg === 'api key changed' && name === 'Imported')).toHaveLength(100);
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
    const ban = () => store.log.find(({ by, action }) => by === 'service' && action === 'banned');
    await until(() => ban() !== undefined);
    expect(ban()).toMatchObject({ msg: 'api key changed', key: id });
  });

  it('keeps the last 1,000 changes', async () => {
    const { id } = await create();
    await store.sql(
      `insert into api_key_history (key_id, changed_by, action, changes)
         select $1, 'sql', 'updated', '{}' from generate_series(1, 1000)`,
      [id],
    );
    for (const name of ['n1', 'n2']) await store.sql('update api_keys set name = $1 where id = $2', [name, id]);
    const { history: all } = await key(
      id,
      'history(first: 1) { totalCount edges { node { changes } } nodes { changes } }',
    );
    const changes = ['name: n1 → n2'];
    expect(all).toEqual({ totalCount: 1_000, edges: [{ node: { changes } }], nodes: [{ changes }] });
  });
});

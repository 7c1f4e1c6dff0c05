import { expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { keysIn } from './run-keys.ts';

const store = await startTestApp();

// oxlint-disable-next-line typescript/no-explicit-any -- what a command prints is its own to say
async function json(...args: readonly string[]): Promise<any> {
  const { stdout } = await keysIn(store.environment, ...args, '--json');
  return JSON.parse(stdout);
}

function lastOf(periods: unknown): Record<string, unknown> | undefined {
  return (periods as Record<string, unknown>[]).at(-1);
}

/** Everything that the database has, as a dump would. */
async function dump(): Promise<string> {
  const tables = await store.sql(`select table_name from information_schema.tables where table_schema = 'public'`);
  const rows: object[] = [];
  for (const { table_name: name } of tables) rows.push(await store.sql(`select * from ${String(name)}`));
  return JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

it('the commands say why a key was refused, and how much it was used', async () => {
  const { id, secret } = await json(
    'create',
    '--name',
    'Noon',
    '--plan',
    'enterprise',
    '--per-minute',
    '2',
    '--per-day',
    '9',
  );
  for (const status of [200, 200, 429]) {
    expect((await store.graphql('query AtNoon { __typename }', {}, secret)).status).toBe(status);
  }
  await until(async () => lastOf(await json('usage', id))?.['requests'] === 3);
  const { requests, omitted } = await json('requests', id, '--refused');
  expect(requests).toMatchObject([
    { status: 429, code: 'RATE_LIMITED', refusedBy: 'minute', limit: 2, protocol: 'graphql' },
  ]);
  expect(omitted).toBe(1);
  const found = await json('requests', id, '--request', requests[0].requestId);
  expect(found.requests).toEqual(requests);
  expect(lastOf(await json('usage', id, '--per', 'day', '--since', '7d'))).toMatchObject({
    requests: 3,
    refusedByQuota: 1,
    cost: 2,
  });
  const { stdout } = await keysIn(store.environment, 'usage', id);
  expect(stdout.trimEnd().split('\n')).toHaveLength(25);
  expect(stdout).toMatch(/ 3 +2 +1 .*█{30}/);
  expect((await keysIn(store.environment, 'usage', id, '--since', '90d')).exitCode).toBe(2);
});

it('what is forgotten of a revoked key is in no dump; counts stay', async () => {
  const marked = 'Marked-8fd1';
  const { id, secret } = await json('create', '--name', `${marked} 1`, '--plan', 'business');
  await json('update', id, '--name', `${marked} 2`);
  const headers = { 'graphql-client-name': `${marked} 3`, 'graphql-client-version': marked, 'x-request-id': marked };
  const input = { name: `${marked} body`, categoryId: '999' };
  const create = `mutation ${marked.replace('-', '_')}($input: CreatePetInput!) { createPet(input: $input) { pet { id } } }`;
  await store.graphql(create, { input }, secret, headers);
  await store.ask('POST', '/pets', input, { authorization: `Bearer ${secret}`, 'user-agent': marked });
  await until(async () => lastOf(await json('usage', id))?.['requests'] === 2);
  expect(await dump()).toContain(marked);

  const early = await keysIn(store.environment, 'forget', id);
  expect([early.exitCode, early.stderr]).toEqual([1, expect.stringContaining('revoke it first')]);
  await json('revoke', id);
  const { stderr } = await keysIn(store.environment, 'forget', id);
  expect(stderr).toContain("can't be undone");
  const rest = await dump();
  for (const text of [marked, marked.replace('-', '_'), secret]) expect(rest).not.toContain(text);
  expect(await json('show', id)).toMatchObject({ name: 'forgotten' });
  expect((await json('history', id))[0]).toMatchObject({
    action: 'forgotten',
    changes: { name: { from: 'forgotten', to: 'forgotten' } },
  });
  expect(lastOf(await json('usage', id))).toMatchObject({ requests: 2, writes: 2 });
  const { data } = await store.graphql('mutation ($id: ID!) { forgetApiKey(input: { id: $id }) { apiKey { name } } }', {
    id,
  });
  expect(data.forgetApiKey.apiKey).toEqual({ name: 'forgotten' });
});

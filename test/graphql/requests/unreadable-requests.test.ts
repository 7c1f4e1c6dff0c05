import { expect, it } from '@jest/globals';

import { keysIn } from '../../cli/run-keys.ts';
import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

/** What this version can't read in the tables of requests costs who asks for it, and nobody else. */

const app = await startTestApp();
const [one, other] = [
  await app.createKey({ name: 'one', plan: 'business' }),
  await app.createKey({ name: 'other', plan: 'business' }),
];
const unavailable = ['SERVICE_UNAVAILABLE'];

const view = async (field: string, { secret }: { readonly secret: string }) =>
  app.graphql(`{ viewer { ${field} } }`, {}, secret);

async function countOf({ id }: { readonly id: string }): Promise<number> {
  const [row] = await app.sql('select sum(requests)::int as n from api_key_use where key_id = $1 and is_day', [id]);
  return Number(row?.['n'] ?? 0);
}

/** Requests of both keys, one after another, until they are saved. */
async function useBoth(): Promise<void> {
  const before = await Promise.all([one, other].map(countOf));
  for (const { secret } of [one, other])
    await app.ask('GET', '/pets/999', undefined, { authorization: `Bearer ${secret}` });
  await until(async () => (await countOf(one)) > before[0]! && (await countOf(other)) > before[1]!);
}

await useBoth();
for (const check of await app.sql(
  `select conname as name from pg_constraint where conrelid = 'api_key_requests'::regclass and contype = 'c'`,
))
  await app.sql(`alter table api_key_requests drop constraint "${String(check['name'])}"`);

it.each([
  ['a protocol of a newer version', `protocol = 'grpc'`],
  ['a window of a newer version', `refused_by = 'hour'`],
  ['an instant that is none', `at = 'infinity'`],
])('entries with %s are 503; counts, other keys and new entries are not', async (_, change) => {
  const [kept] = await app.sql(
    'select id, protocol, refused_by, at from api_key_requests where key_id = $1 order by id desc limit 1',
    [one.id],
  );
  await app.sql(`update api_key_requests set ${change} where id = $1`, [kept!['id']]);
  const entries = 'requests(first: 100) { nodes { protocol refusedBy at } omitted }';
  expect((await view(entries, one)).codes).toEqual(unavailable);
  expect((await view(entries, other)).errors).toEqual([]);
  expect((await view('usageHistory { requests } deprecatedUse { count }', one)).errors).toEqual([]);
  const { exitCode, stderr } = await keysIn(app.environment, 'requests', one.id);
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/can't be read: this version doesn't know/)]);
  await useBoth();
  await app.sql('update api_key_requests set protocol = $2, refused_by = $3, at = $4 where id = $1', [
    kept!['id'],
    kept!['protocol'],
    kept!['refused_by'],
    kept!['at'],
  ]);
  expect((await view(entries, one)).errors).toEqual([]);
});

it('uses of what is deprecated that end at no instant are 503 for their key and for all keys together', async () => {
  await useBoth();
  await app.sql(`update api_key_deprecated_use set last_used_at = 'infinity' where key_id = $1`, [one.id]);
  const uses = 'deprecatedUse { coordinate sunset count lastUsedAt }';
  expect((await view(uses, one)).codes).toEqual(unavailable);
  expect((await view(uses, other)).errors).toEqual([]);
  const users = '{ deprecatedUse(coordinate: "GET /pets/{petId}") { nodes { count lastUsedAt } } }';
  expect((await app.graphql(users)).codes).toEqual(unavailable);
  await useBoth();
  await app.sql('delete from api_key_deprecated_use where key_id = $1', [one.id]);
  expect((await app.graphql(users)).errors).toEqual([]);
});

it('counts that can grow no further keep those of no other key from being saved', async () => {
  await app.sql(
    `update api_key_use set requests = 2147483647, omitted = 2147483647, deprecated_uses = 2147483647,
       cost = 9223372036854775807 where key_id = $1`,
    [one.id],
  );
  await app.sql('update api_key_deprecated_use set uses = 2147483647 where key_id = $1', [one.id]);
  const before = await countOf(other);
  for (const { secret } of [one, other])
    await app.ask('GET', '/pets/999', undefined, { authorization: `Bearer ${secret}` });
  await until(async () => (await countOf(other)) > before);
  const { data } = await view('usageHistory(per: DAY, since: "2026-01-01T00:00:00Z") { requests }', one);
  expect(data.viewer.usageHistory).toContainEqual({ requests: 2_147_483_647 });
});

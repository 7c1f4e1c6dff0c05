import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';

import { startKeyedApp, type KeyedApp } from '../keyed-app.ts';

const service = await startKeyedApp();

const post: KeyedApp['post'] = (payload, key, secret) => service.post(payload, key, secret);

it('covers at most 50 root fields', async () => {
  const mutation = (aliased: number) =>
    `mutation { __typename createOrder(input: {}) { order { id } } createCategory(input: { name: "Many" }) { category { id } }
       ${Array.from({ length: aliased }, (_, n) => `f${n}: createOrder(input: {}) { order { id } }`).join(' ')} }`;
  const refused = await post({ query: mutation(49) }, randomUUID());
  expect([refused.status, refused.codes]).toEqual([400, ['BAD_USER_INPUT']]);
  const key = randomUUID();
  expect((await post({ query: mutation(48) }, key)).codes).toEqual([]);
  expect((await post({ query: mutation(48) }, key)).replayed).toHaveLength(50);
});

it('a replay costs what the operation costs', async () => {
  const { secret } = await service.createKey();
  const key = randomUUID();
  const query = 'mutation { a: createOrder(input: {}) { order { id } } b: createOrder(input: {}) { order { id } } }';
  const [first, second] = [await post({ query }, key, secret), await post({ query }, key, secret)];
  expect([second.headers['idempotent-replayed'], second.headers['x-ratelimit-cost']]).toEqual([
    'true',
    first.headers['x-ratelimit-cost'],
  ]);
  expect(Number(second.headers['x-ratelimit-remaining'])).toBe(Number(first.headers['x-ratelimit-remaining']) - 2);
});

it('is kept for 24 hours', async () => {
  const key = randomUUID();
  const query = 'mutation { createPet(input: { name: "Rex", categoryId: 1 }) { pet { id } } }';
  const first = await post({ query }, key);
  const age = (interval: string) =>
    service.sql('update graphql_idempotency_records set created_at = now() - $2::interval where key = $1', [
      key,
      interval,
    ]);
  await age('23 hours 59 minutes');
  expect((await post({ query }, key)).data).toEqual(first.data);
  await age('24 hours');
  const later = await post({ query }, key);
  expect([later.codes, later.replayed]).toEqual([[], []]);
  expect(later.data).not.toEqual(first.data);
  expect((await post({ query }, key)).data).toEqual(later.data);
});

it('the largest row has a record of at most 16 KiB, over both protocols', async () => {
  // Each code point takes four bytes, by itself or escaped twice.
  for (const character of ['🐕', '\\', '"', '\n', 'é']) {
    const input = {
      name: `n${character === '\n' ? 'x'.repeat(254) : character.repeat(254)}`,
      description: character.repeat(2000),
    };
    const query =
      'mutation ($input: CreateCategoryInput!) { createCategory(input: $input) { category { name description } } }';
    const [key, restKey] = [randomUUID(), randomUUID()];
    const first = await post({ query, variables: { input } }, key);
    expect([first.codes, first.data.createCategory.category]).toEqual([[], input]);
    expect((await post({ query, variables: { input } }, key)).data).toEqual(first.data);
    const request = {
      method: 'POST',
      url: '/categories',
      headers: { 'x-api-key': service.key, 'idempotency-key': restKey },
      payload: input,
    } as const;
    const created = await service.app.server.inject(request);
    expect([created.statusCode, (await service.app.server.inject(request)).body]).toEqual([201, created.body]);
  }
  const [largest] = await service.sql(`select greatest(
    (select max(octet_length(payload::text)) from graphql_idempotency_records),
    (select max(octet_length(answer::text)) from idempotency_records)) as bytes`);
  expect(Number(largest?.['bytes'])).toBeLessThanOrEqual(16 * 1024);
});

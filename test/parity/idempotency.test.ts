import { randomUUID } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import { startTestApp } from '../support/test-app.ts';

const service = await startTestApp();

interface Creation {
  readonly status: number;
  readonly code: string | undefined;
  readonly category: { readonly id: string; readonly name: string; readonly description?: string } | undefined;
  readonly isReplayed: boolean;
}

interface Protocol {
  readonly protocol: string;
  /** Whether its records are those of a response. */
  readonly isResponse: boolean;
  readonly refusal: string;
  /** Creates a category under the key. */
  readonly create: (key: string, input?: object, secret?: string) => Promise<Creation>;
}

const rest: Protocol = {
  protocol: 'REST',
  isResponse: true,
  refusal: 'validation_failed',
  create: async (key, input = { name: 'Dogs' }, secret = service.key) => {
    const own = { 'idempotency-key': key, authorization: `Bearer ${secret}` };
    const { status, headers, body } = await service.ask('POST', '/categories', input, own);
    return { status, code: body.code, category: body, isReplayed: headers['idempotent-replayed'] === 'true' };
  },
};

const graphql: Protocol = {
  protocol: 'GraphQL',
  isResponse: false,
  refusal: 'BAD_USER_INPUT',
  create: async (key, input = { name: 'Dogs' }, secret = service.key) => {
    const { status, headers, data, codes } = await service.graphql(
      'mutation ($input: CreateCategoryInput!) { createCategory(input: $input) { category { id name description } } }',
      { input },
      secret,
      { 'idempotency-key': key },
    );
    const { category } = data?.createCategory ?? {};
    return { status, code: codes[0], category, isReplayed: headers['idempotent-replayed'] === 'true' };
  },
};

describe.each([rest, graphql])('an Idempotency-Key over $protocol', ({ isResponse, refusal, create }) => {
  it('belongs to the API key', async () => {
    const [one, other] = [await service.createKey(), await service.createKey()];
    const key = randomUUID();
    const first = await create(key, { name: 'One' }, one.secret);
    const second = await create(key, { name: 'Other' }, other.secret);
    expect([first.isReplayed, second.isReplayed, second.category?.name]).toEqual([false, false, 'Other']);
  });

  it('is kept for 24 hours', async () => {
    const key = randomUUID();
    const age = (interval: string) =>
      service.sql(`update idempotency_records set created_at = now() - $2::interval where key = $1`, [key, interval]);
    const first = await create(key);
    await age('23 hours 59 minutes');
    expect(await create(key)).toEqual({ ...first, isReplayed: true });
    await age('24 hours');
    const later = await create(key, { name: 'Another request' });
    expect([later.code, later.isReplayed, later.category?.name]).toEqual([undefined, false, 'Another request']);
    expect(await create(key, { name: 'Another request' })).toEqual({ ...later, isReplayed: true });
  });

  it.each([
    ['"quoted"', 'quoted'],
    [String.raw`"a \"b\" \\ c"`, String.raw`a "b" \ c`],
    [`"${'q'.repeat(255)}"`, 'q'.repeat(255)],
    ['"k"', 'k'],
  ])('is one, as a quoted string and as its characters: %s', async (quoted, plain) => {
    const { secret } = await service.createKey();
    const first = await create(quoted, { name: 'Quoted' }, secret);
    expect([first.code, first.isReplayed]).toEqual([undefined, false]);
    expect(await create(plain, { name: 'Quoted' }, secret)).toEqual({ ...first, isReplayed: true });
  });

  it.each([
    '',
    'k'.repeat(256),
    '"',
    '""',
    '"abc',
    '"a"b',
    '"x";p=1',
    '"a", "b"',
    String.raw`"a\b"`,
    '"\u00e9"',
    `"${'k'.repeat(256)}"`,
  ])('is refused where it has not 1 to 255 characters, or only begins like a string: %j', async (key) => {
    expect(await create(key)).toMatchObject({ status: 400, code: refusal, isReplayed: false });
  });

  it('has a record of at most 16 KiB, also of the largest row', async () => {
    // Each code point takes four bytes, by itself or escaped twice.
    for (const character of ['🐕', '\\', '"', '\n', 'é']) {
      const name = `n${character === '\n' ? 'x'.repeat(254) : character.repeat(254)}`;
      const input = { name, description: character.repeat(2000) };
      const key = randomUUID();
      const first = await create(key, input);
      expect(first.category).toMatchObject(input);
      expect(await create(key, input)).toEqual({ ...first, isReplayed: true });
    }
    const [largest] = await service.sql(
      `select max(octet_length(result::text))::int as bytes from idempotency_records where (field = '/') = $1`,
      [isResponse],
    );
    expect(largest?.['bytes']).toBeLessThanOrEqual(16 * 1024);
  });
});

it.each([
  [rest, graphql],
  [graphql, rest],
])('a key with records of $protocol is refused over $protocol', async (one, other) => {
  const key = randomUUID();
  const first = await one.create(key);
  expect(first.code).toBeUndefined();
  expect((await other.create(key)).code?.toUpperCase()).toBe('IDEMPOTENCY_KEY_REUSED');
  expect(await one.create(`"${key}"`)).toEqual({ ...first, isReplayed: true });
});

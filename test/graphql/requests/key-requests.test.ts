import { expect, it } from '@jest/globals';

import { startTestApp } from '../../support/test-app.ts';
import { until } from '../../support/until.ts';

const service = await startTestApp();
await service.pet();
const fields = `requestId at protocol operation status code refusedBy limit retryAfter cost hasIdempotencyKey address
  clientName clientVersion userAgent`;

interface Entry {
  readonly requestId: string;
  readonly operation: string;
  readonly status: number;
  readonly code: string | null;
}

async function entriesOf(secret: string, args = ''): Promise<{ nodes: Entry[]; omitted: number }> {
  const { data, errors } = await service.graphql(
    `query Entries { viewer { requests${args} { omitted nodes { ${fields} } } } }`,
    {},
    secret,
  );
  expect(errors).toEqual([]);
  return data.viewer.requests as { nodes: Entry[]; omitted: number };
}

async function usageOf(id: string): Promise<Record<string, number>> {
  const { data, errors } = await service.graphql(
    `query ($id: ID!) { apiKey(id: $id) { usageHistory(per: DAY) {
      requests cost refusedByQuota refusedByBan clientErrors serverErrors writes deprecatedUses omitted } } }`,
    { id },
  );
  expect(errors).toEqual([]);
  return (data.apiKey.usageHistory as Record<string, number>[]).at(-1) ?? {};
}

it('each refusal and write of a key has an entry that says what it was, and who sent it to administrators only', async () => {
  const { id, secret } = await service.createKey({ plan: 'enterprise', requestsPerMinute: 4, requestsPerDay: 100 });
  const key = { authorization: `Bearer ${secret}` };
  await service.ask(
    'POST',
    '/pets',
    { name: 'Rex', categoryId: 1 },
    { ...key, 'idempotency-key': 'a', 'user-agent': 'curl/8' },
  );
  await service.graphql('mutation Rename { updatePet(input: { id: 999, name: "x" }) { pet { id } } }', {}, secret, {
    'graphql-client-name': 'shop\u0001',
    'graphql-client-version': '1.2',
  });
  await service.ask('PATCH', '/pets/1', {}, key);
  await service.ask('GET', '/pets?limit=5', undefined, key);
  const refused = await service.ask('GET', '/pets?limit=5', undefined, key);
  expect(refused.status).toBe(429);
  await until(async () => (await usageOf(id))['requests'] === 5);
  const { data } = await service.graphql(
    `query ($id: ID!) { apiKey(id: $id) { requests { omitted nodes { ${fields} } } } }`,
    { id },
  );
  const { nodes, omitted } = data.apiKey.requests as { nodes: object[]; omitted: number };
  expect(omitted).toBe(0);
  expect(nodes).toMatchObject([
    {
      requestId: refused.headers['x-request-id'],
      protocol: 'REST',
      operation: 'listPets',
      status: 429,
      code: 'rate_limited',
      refusedBy: 'MINUTE',
      limit: 4,
      retryAfter: Number(refused.headers['retry-after']),
      cost: 0,
    },
    { operation: 'listPets', status: 200, code: null, refusedBy: null, cost: 1 },
    { operation: 'updatePet', status: 400, code: 'validation_failed' },
    {
      protocol: 'GRAPHQL',
      operation: 'Rename',
      status: 404,
      code: 'NOT_FOUND',
      clientName: 'shop',
      clientVersion: '1.2',
      userAgent: null,
    },
    { operation: 'createPet', status: 201, hasIdempotencyKey: true, userAgent: 'curl/8', address: '127.0.0.1' },
  ]);
  expect(await usageOf(id)).toEqual({
    requests: 5,
    cost: 4,
    refusedByQuota: 1,
    refusedByBan: 0,
    clientErrors: 2,
    serverErrors: 0,
    writes: 3,
    deprecatedUses: 0,
    omitted: 0,
  });
});

it('what has no operation, whatever its method, is no write', async () => {
  const { id, secret } = await service.createKey({ plan: 'business' });
  for (const [method, path] of [
    ['PUT', '/pets'],
    ['POST', '/nothing'],
    ['DELETE', '/graphql'],
  ] as const) {
    await service.ask(method, path, undefined, { authorization: `Bearer ${secret}` });
  }
  await until(async () => (await usageOf(id))['requests'] === 3);
  expect(await usageOf(id)).toMatchObject({ clientErrors: 3, writes: 0 });
});

it('a key sees its own requests by any filter, without addresses, and nothing of others', async () => {
  const { secret } = await service.createKey({ plan: 'business' });
  const other = await service.createKey({ plan: 'business' });
  await service.ask('DELETE', '/pets/998', undefined, { authorization: `Bearer ${other.secret}` });
  const sent = await service.ask('DELETE', '/pets/999', undefined, { authorization: `Bearer ${secret}` });
  const id = sent.headers['x-request-id'];
  await until(async () => (await entriesOf(secret)).nodes.some(({ requestId }) => requestId === id));
  const filters = [
    `requestId: "${id}"`,
    'statusAtLeast: 404',
    'codeIn: ["not_found"]',
    'operation: "deletePet"',
    'statusAtLeast: 400, since: "2020-01-01T00:00:00Z", until: "2999-01-01T00:00:00Z"',
  ];
  for (const filter of filters) {
    const { nodes } = await entriesOf(secret, `(filter: { ${filter} })`);
    expect(nodes).toMatchObject([{ requestId: id, operation: 'deletePet', status: 404, address: null }]);
  }
  for (const filter of ['codeIn: []', 'codeIn: ["\\u0000"]', 'until: "2020-01-01T00:00:00Z"', 'operation: "x"']) {
    expect((await entriesOf(secret, `(filter: { ${filter} })`)).nodes).toEqual([]);
  }
});

it('viewer is free, and costs 1 with what its key was used for, through fragments too', async () => {
  const { secret } = await service.createKey({ plan: 'business' });
  const cost = async (selection: string): Promise<string | undefined> =>
    (
      await service.graphql(
        `query ($no: Boolean = false) { viewer { name ${selection} } } fragment F on Viewer { usageHistory { requests } }`,
        {},
        secret,
      )
    ).headers['x-ratelimit-cost'];
  expect(await cost('... on Viewer { plan ...F @include(if: $no) }')).toBe('0');
  expect(await cost('...F')).toBe('1');
  expect(await cost('requests { omitted } ...F')).toBe('1');
});

it('a usage has its periods without requests too, at most 400, and names what is wrong', async () => {
  const { secret } = await service.createKey({ plan: 'business' });
  const usage = (args: string) =>
    service.graphql(`{ viewer { usageHistory(${args}) { startsAt requests } } }`, {}, secret);
  const { data } = await usage('per: HOUR, since: "2026-01-01T00:30:00Z", until: "2026-01-01T03:00:00Z"');
  expect(data.viewer.usageHistory).toEqual(
    ['00', '01', '02'].map((hour) => ({ startsAt: `2026-01-01T${hour}:00:00.000Z`, requests: 0 })),
  );
  const first = await usage('per: DAY, until: "0001-01-01T00:00:00Z"');
  expect([first.codes, first.data.viewer.usageHistory]).toEqual([[], []]);
  expect((await usage('per: HOUR')).data.viewer.usageHistory).toHaveLength(24);
  expect((await usage('per: DAY')).data.viewer.usageHistory).toHaveLength(30);
  for (const args of [
    'per: HOUR, since: "2026-01-01T00:00:00Z", until: "2026-02-01T00:00:00Z"',
    'since: "2026-01-02T00:00:00Z", until: "2026-01-01T00:00:00Z"',
  ]) {
    const { errors, codes } = await usage(args);
    expect(codes).toEqual(['BAD_USER_INPUT']);
    expect(errors[0]?.extensions.violations?.[0]?.field).toBe('since');
  }
});

it('ADMIN_API_KEY has no requests of its own', async () => {
  const adminKey = 'k'.repeat(32);
  const admin = await startTestApp({ ADMIN_API_KEY: adminKey });
  await admin.graphql('mutation { createCategory(input: { name: "x" }) { category { id } } }', {}, adminKey);
  const { data, errors } = await admin.graphql(
    '{ viewer { requests { omitted nodes { at } } usageHistory { requests } } }',
    {},
    adminKey,
  );
  expect(errors).toEqual([]);
  expect(data.viewer.requests).toEqual({ omitted: 0, nodes: [] });
  expect(new Set((data.viewer.usageHistory as { requests: number }[]).map(({ requests }) => requests))).toEqual(
    new Set([0]),
  );
});

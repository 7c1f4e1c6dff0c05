import { randomBytes } from 'node:crypto';

import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { received, type Received, startReceiver } from '../platform/delivery/receiver.ts';

const settings = {
  WEBHOOK_SIGNING_KEY: randomBytes(32).toString('base64'),
  WEBHOOK_ALLOW: '127.0.0.0/8',
};

/** Answers with the status, and keeps what it gets. */
async function startInbox(statusOf: (request: Received, count: number) => number = () => 204) {
  const requests: Received[] = [];
  const port = await startReceiver((request, response) => {
    void received(request).then((each) => {
      requests.push(each);
      response.writeHead(statusOf(each, requests.length)).end();
    });
  });
  const events = (): { type: string; data: Record<string, unknown> }[] =>
    requests.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> });
  return { port, url: `https://localhost:${port}/hook`, requests, events };
}

type Inbox = Awaited<ReturnType<typeof startInbox>>;

function startStore(inboxes: readonly Inbox[], more: Record<string, string> = {}): Promise<TestApp> {
  const ports = inboxes.map(({ port }) => port).join(',');
  return startTestApp({ ...settings, WEBHOOK_PORTS: ports, ...more });
}

const shown =
  'id url description eventTypes isThin maxInFlight state version failingSince nextAttemptAt disabledReason';

function change(store: TestApp, name: string, input: object, payload = `webhookEndpoint { ${shown} }`) {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  return store.graphql(`mutation ($input: ${type}!) { result: ${name}(input: $input) { ${payload} } }`, { input });
}

async function create(store: TestApp, input: object): Promise<{ id: string; version: string; secret: string }> {
  const { data, errors } = await change(store, 'createWebhookEndpoint', input, `webhookEndpoint { ${shown} } secret`);
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  return { ...data.result.webhookEndpoint, secret: data.result.secret };
}

async function endpoint(store: TestApp, id: string, fields = shown): Promise<Record<string, never>> {
  const { data } = await store.graphql(`query ($id: ID!) { webhookEndpoint(id: $id) { ${fields} } }`, { id });
  return data.webhookEndpoint;
}

it('a change of the store is delivered, signed, as GET /events has it', async () => {
  const inbox = await startInbox();
  const store = await startStore([inbox]);
  const { secret } = await create(store, { url: inbox.url, eventTypes: ['PET_CREATED', 'PET_UPDATED'] });
  const pet = await store.pet();
  await store.ask('PATCH', `/pets/${pet.id}`, { name: 'Renamed' });
  await until(() => inbox.requests.length >= 2);
  const log = (await store.ask('GET', '/events?limit=100')).body as { type: string }[];
  expect(inbox.events().map(({ type }) => type)).toEqual(['pet.created', 'pet.updated']);
  expect(inbox.events().map(({ data }) => data)).toEqual(
    log.filter(({ type }) => /^pet\.(created|updated)/.test(type)),
  );
  for (const { headers, body } of inbox.requests) {
    const { data } = new Webhook(secret).verify(body, headers as Record<string, string>) as { data: { id: string } };
    expect(headers['webhook-id']).toBe(data.id);
    expect(headers['user-agent']).toMatch(/^petstore-gateway\/\d+\.\d+\.\d+$/);
  }
  // Nothing else comes: a category and an inventory entry were made as well.
  expect(inbox.requests.length).toBe(2);
});

it('a thin endpoint gets no object, and one that begins after an event every later one', async () => {
  const [thin, late] = [await startInbox(), await startInbox()];
  const store = await startStore([thin, late]);
  const { data } = await store.graphql('{ eventCursor }');
  const first = await store.pet();
  await create(store, { url: thin.url, isThin: true, after: data.eventCursor });
  // Then all of it is in the log.
  await until(() => thin.requests.length === 3);
  await create(store, { url: late.url });
  await store.ask('PATCH', `/pets/${first.id}`, { name: 'Renamed' });
  await until(() => [thin, late].every(({ events }) => events().some(({ type }) => type === 'pet.updated')));
  expect(thin.events().map(({ type }) => type)).toContain('pet.created');
  expect(thin.events().filter(({ data: { object } }) => object !== undefined)).toEqual([]);
  expect(late.events().map(({ type }) => type)).not.toContain('pet.created');
  expect(late.events().every(({ data: { object } }) => object !== undefined)).toBe(true);
});

it('a failing endpoint is told as such, holds its position, and goes on when it is resumed', async () => {
  let isWell = false;
  const inbox = await startInbox(() => (isWell ? 200 : 503));
  const store = await startStore([inbox], { LOG_LEVEL: 'info' });
  const { id } = await create(store, { url: inbox.url, eventTypes: ['CATEGORY_CREATED'] });
  for (const name of ['A', 'B', 'C']) await store.category(name);
  await until(async () => (await endpoint(store, id))['state'] === 'FAILING');
  const failing = await endpoint(
    store,
    id,
    `${shown} attempts(first: 1) { nodes { status failure result } totalCount }`,
  );
  expect(failing).toMatchObject({ failingSince: expect.any(String), nextAttemptAt: expect.any(String) });
  expect(failing['attempts']).toMatchObject({ nodes: [{ status: 503, failure: null, result: 'FAILED' }] });
  const sent = inbox.requests.length;
  isWell = true;
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.requests.length >= sent + 3);
  const names = inbox
    .events()
    .slice(sent)
    .map(({ data }) => (data['object'] as { name: string }).name);
  expect(names.toSorted()).toEqual(['A', 'B', 'C']);
  await until(async () => (await endpoint(store, id))['state'] === 'ACTIVE');
  expect(store.log.map(({ msg }) => msg)).toContain('webhook endpoint fails');
  expect(JSON.stringify(store.log)).not.toContain('/hook');
});

it('410 disables an endpoint, for its history too; resumed, it goes on from where it was', async () => {
  let status = 410;
  const inbox = await startInbox(() => status);
  const store = await startStore([inbox]);
  const { id } = await create(store, { url: inbox.url, eventTypes: ['CATEGORY_CREATED'] });
  await store.category('Kept');
  await until(async () => (await endpoint(store, id))['state'] === 'DISABLED');
  expect(await endpoint(store, id)).toMatchObject({ disabledReason: 'GONE' });
  status = 200;
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.requests.length === 2);
  expect((inbox.events()[1]!.data['object'] as { name: string }).name).toBe('Kept');
  const { history } = (await endpoint(store, id, 'history { nodes { by action changes } }')) as Record<string, unknown>;
  const { nodes } = history as { nodes: { by: string; action: string; changes: string[] }[] };
  expect(nodes.map(({ action }) => action)).toEqual(['UPDATED', 'UPDATED', 'CREATED']);
  expect(nodes[1]).toMatchObject({ by: 'service', changes: ['disabledReason: GONE'] });
});

it('a paused endpoint gets nothing, and all of it when it is resumed; a replayed one everything once more', async () => {
  const inbox = await startInbox();
  const store = await startStore([inbox]);
  const { data: begin } = await store.graphql('{ eventCursor }');
  const { id, version } = await create(store, { url: inbox.url, eventTypes: ['CATEGORY_CREATED'], maxInFlight: 1 });
  await store.category('A');
  await until(() => inbox.requests.length === 1);
  const paused = await change(store, 'pauseWebhookEndpoint', { id, ifVersion: version });
  expect(paused.data.result.webhookEndpoint).toMatchObject({ state: 'PAUSED' });
  expect(await change(store, 'resumeWebhookEndpoint', { id, ifVersion: version })).toMatchObject({
    codes: ['PRECONDITION_FAILED'],
  });
  await store.category('B');
  await store.category('C');
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.requests.length === 3);
  expect(await change(store, 'replayWebhookEndpoint', { id, after: begin.eventCursor })).toMatchObject({ errors: [] });
  await until(() => inbox.requests.length === 6);
  const names = inbox.events().map(({ data }) => (data['object'] as { name: string }).name);
  expect(names).toEqual(['A', 'B', 'C', 'A', 'B', 'C']);
  const ids = inbox.requests.map(({ headers }) => headers['webhook-id']);
  expect(ids.slice(0, 3)).toEqual(ids.slice(3));
});

it('a position that the log has lost is told by a store.resync, and the log goes on', async () => {
  const inbox = await startInbox();
  const store = await startStore([inbox]);
  const { id } = await create(store, { url: inbox.url });
  await change(store, 'pauseWebhookEndpoint', { id });
  await store.category('A');
  await until(async () => ((await store.ask('GET', '/events')).body as unknown[]).length > 0);
  await store.sql("update webhook_endpoints set position = '12345:678'");
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.requests.length >= 2);
  expect(inbox.events()[0]).toMatchObject({ type: 'store.resync', data: { type: 'store.resync' } });
  expect(inbox.events()[0]?.data).not.toHaveProperty('object');
  expect(inbox.events().map(({ type }) => type)).toContain('category.created');
  expect(inbox.events().filter(({ type }) => type === 'store.resync').length).toBe(1);
});

it('a rotated secret signs beside the old one for the overlap; a changed signing key beside the old key', async () => {
  const inbox = await startInbox();
  const store = await startStore([inbox]);
  const { id, secret } = await create(store, { url: inbox.url, eventTypes: ['CATEGORY_CREATED'] });
  const { data } = await change(store, 'rotateWebhookSecret', { id }, 'secret');
  expect(data.result.secret).not.toBe(secret);
  await store.category('A');
  await until(() => inbox.requests.length === 1);
  const verify = (each: string, { body, headers }: Received): unknown =>
    new Webhook(each).verify(body, headers as Record<string, string>);
  for (const each of [secret, data.result.secret]) verify(each, inbox.requests[0]!);
  await change(store, 'rotateWebhookSecret', { id, overlapSeconds: 0 }, 'secret');
  await store.category('B');
  await until(() => inbox.requests.length === 2);
  expect(() => verify(secret, inbox.requests[1]!)).toThrow();
  const stored = await store.sql('select * from webhook_endpoints');
  for (const each of [secret, data.result.secret] as string[])
    expect(JSON.stringify(stored)).not.toContain(each.slice(10));
});

it('an endpoint is tested at once, by whatever it answers', async () => {
  const inbox = await startInbox((_request, count) => (count === 1 ? 204 : 500));
  const store = await startStore([inbox]);
  const { id } = await create(store, { url: inbox.url });
  const test = (): Promise<{ data: Record<string, never> }> =>
    change(store, 'testWebhookEndpoint', { id }, 'status failure durationMillis');
  expect((await test()).data['result']).toMatchObject({ status: 204, failure: null });
  expect((await test()).data['result']).toMatchObject({ status: 500, failure: null });
  expect(inbox.events()[0]).toMatchObject({ type: 'webhook.test' });
  expect(await endpoint(store, id)).toMatchObject({ state: 'ACTIVE' });
  const atomic = await store.graphql(`mutation @atomic { testWebhookEndpoint(input: { id: "${id}" }) { status } }`);
  expect(atomic.codes).toContain('BAD_USER_INPUT');
});

it.each([
  ['http://example.com/', 'does not begin with https://.'],
  ['https://10.0.0.1/', 'has an address that is not allowed.'],
  ['https://user@example.com/', 'has a user or a password.'],
  ['https://example.com:1/', expect.stringMatching(/^has a port other than 443/)],
])('%s is refused', async (url, message) => {
  const inbox = await startInbox();
  const store = await startStore([inbox]);
  const { errors } = await change(store, 'createWebhookEndpoint', { url });
  expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', violations: [{ field: 'url', message }] });
});

it('is off without a signing key: the mutation names the setting, and no statement is sent', async () => {
  const store = await startTestApp();
  store.forgetStatements();
  const { errors } = await change(store, 'createWebhookEndpoint', { url: 'https://example.com/' });
  expect(errors[0]).toMatchObject({
    message: expect.stringContaining('WEBHOOK_SIGNING_KEY'),
    extensions: { code: 'CONFLICT' },
  });
  expect(store.statements).toEqual([]);
  const { secret } = await store.createKey({ scopes: ['write'] });
  const refused = await store.graphql('{ webhookEndpoints { totalCount } }', {}, secret);
  expect(refused.codes).toEqual(['FORBIDDEN']);
});

it('a deleted endpoint is gone with its attempts, and an idempotency key is refused by field', async () => {
  const inbox = await startInbox();
  const store = await startStore([inbox]);
  const { id } = await create(store, { url: inbox.url });
  await store.category();
  await until(() => inbox.requests.length >= 1);
  const { data } = await change(store, 'deleteWebhookEndpoint', { id }, 'deletedWebhookEndpointId');
  expect(data.result.deletedWebhookEndpointId).toBe(id);
  expect(await endpoint(store, id)).toBeNull();
  const keyed = await store.graphql(
    `mutation { deleteWebhookEndpoint(input: { id: "${id}" }) { deletedWebhookEndpointId } }`,
    {},
    store.key,
    { 'idempotency-key': 'a' },
  );
  expect(keyed.codes).toEqual(['BAD_USER_INPUT']);
});

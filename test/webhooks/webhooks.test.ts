import { expect, it } from '@jest/globals';

import { DeliveryProcess } from '../../src/process/delivery-process.ts';
import { type Received, startReceiver } from '../platform/egress/receiver.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { change, create, endpoint, settings, startStore } from './endpoints.ts';
import { Inbox, isVerified } from './inbox.ts';

it('a change of the store is delivered, signed, as GET /events has it', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox]);
  const { id, secret } = await create(store, inbox, { eventTypes: ['PET_CREATED', 'PET_UPDATED'] });
  const pet = await store.pet();
  await store.ask('PATCH', `/pets/${pet.id}`, { name: 'Renamed' });
  await until(() => inbox.requests.length >= 2);
  const log = (await store.ask('GET', '/events?limit=100')).body as { id: string; type: string }[];
  expect(inbox.events().map(({ type }) => type)).toEqual(['pet.created', 'pet.updated']);
  expect(inbox.events().map(({ data }) => data)).toEqual(
    log.filter(({ type }) => /^pet\.(created|updated)/.test(type)),
  );
  for (const { headers, body } of inbox.requests) {
    expect(isVerified(secret, { headers, body })).toBe(true);
    expect(headers['webhook-id']).toBe((JSON.parse(body) as { data: { id: string } }).data.id);
    expect(headers['user-agent']).toMatch(/^petstore-gateway\/\d+\.\d+\.\d+$/);
  }
  // Nothing else comes: a category and an inventory entry were made as well.
  expect(inbox.requests.length).toBe(2);
  await until(async () => (await endpoint(store, id, 'position'))['position'] === log.at(-1)?.id);
});

it('a thin endpoint gets no object, and one that begins after an event every later one', async () => {
  const [thin, late] = [await Inbox.start(), await Inbox.start()];
  const store = await startStore([thin, late]);
  const { data } = await store.graphql('{ eventCursor }');
  const first = await store.pet();
  await create(store, thin, { isThin: true, after: data.eventCursor });
  // Then all of it is in the log.
  await until(() => thin.requests.length === 3);
  await create(store, late);
  await store.ask('PATCH', `/pets/${first.id}`, { name: 'Renamed' });
  await until(() => [thin, late].every((inbox) => inbox.events().some(({ type }) => type === 'pet.updated')));
  expect(thin.events().map(({ type }) => type)).toContain('pet.created');
  expect(thin.events().filter(({ data: { object } }) => object !== undefined)).toEqual([]);
  expect(late.events().map(({ type }) => type)).not.toContain('pet.created');
  expect(late.events().every(({ data: { object } }) => object !== undefined)).toBe(true);
});

it('a failing endpoint is told as such, holds its position, and goes on when it is resumed', async () => {
  let isWell = false;
  const inbox = await Inbox.start(() => (isWell ? 200 : 503));
  const store = await startStore([inbox], { LOG_LEVEL: 'info' });
  const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
  for (const name of ['A', 'B', 'C']) await store.category(name);
  await until(async () => (await endpoint(store, id))['state'] === 'FAILING');
  const failing = await endpoint(
    store,
    id,
    'failingSince nextAttemptAt attempts(first: 1) { nodes { status failure result } totalCount }',
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
  const inbox = await Inbox.start(() => status);
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
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
  const inbox = await Inbox.start();
  const store = await startStore([inbox], { LOG_LEVEL: 'info' });
  const { data: begin } = await store.graphql('{ eventCursor }');
  const { id, version } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'], maxInFlight: 1 });
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
  const keyId = '1';
  const switches = store.log.filter(({ msg }) => String(msg).startsWith('webhook endpoint is'));
  expect(switches.map(({ msg, webhook, by }) => [msg, webhook, by])).toEqual([
    ['webhook endpoint is paused', id, keyId],
    ['webhook endpoint is active', id, keyId],
  ]);
});

it('a position that the log has lost is told by a store.resync, and the log goes on', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox);
  await change(store, 'pauseWebhookEndpoint', { id });
  await store.category('A');
  await until(async () => ((await store.ask('GET', '/events')).body as unknown[]).length > 0);
  await store.sql("update webhook_endpoints set position = '12345:678', fence = fence + 1");
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.requests.length >= 2);
  expect(inbox.events()[0]).toMatchObject({ type: 'store.resync', data: { type: 'store.resync' } });
  expect(inbox.events()[0]?.data).not.toHaveProperty('object');
  expect(inbox.events().map(({ type }) => type)).toContain('category.created');
  expect(inbox.events().filter(({ type }) => type === 'store.resync').length).toBe(1);
});

it('a rotated secret signs beside the old one for the overlap; a changed signing key beside the old key', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox]);
  const { id, secret } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
  const { data } = await change(store, 'rotateWebhookSecret', { id }, 'secret');
  expect(data.result.secret).not.toBe(secret);
  await store.category('A');
  await until(() => inbox.requests.length === 1);
  const verifies = (each: string, request: Received | undefined): boolean => isVerified(each, request!);
  expect([secret, data.result.secret].map((each) => verifies(each, inbox.requests[0]))).toEqual([true, true]);
  const last = await change(store, 'rotateWebhookSecret', { id, overlapSeconds: 0 }, 'secret');
  inbox.secrets.push(last.data.result.secret as string);
  await store.category('B');
  await until(() => inbox.requests.length === 2);
  expect(verifies(secret, inbox.requests[1])).toBe(false);
  const stored = await store.sql('select * from webhook_endpoints');
  for (const each of [secret, data.result.secret] as string[])
    expect(JSON.stringify(stored)).not.toContain(each.slice(10));
});

it('an endpoint is tested at once, by whatever it answers', async () => {
  const inbox = await Inbox.start((_request, count) => (count === 1 ? 204 : 500));
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox);
  const test = (): Promise<{ data: Record<string, never> }> =>
    change(store, 'testWebhookEndpoint', { id }, 'status failure durationMillis');
  expect((await test()).data['result']).toMatchObject({ status: 204, failure: null });
  expect((await test()).data['result']).toMatchObject({ status: 500, failure: null });
  expect(inbox.events()[0]).toMatchObject({ type: 'webhook.test' });
  expect(await endpoint(store, id)).toMatchObject({ state: 'ACTIVE' });
  const atomic = await store.graphql(`mutation @atomic { testWebhookEndpoint(input: { id: "${id}" }) { status } }`);
  expect(atomic.codes).toContain('BAD_USER_INPUT');
});

it('a test while the process that sends is not there is 503, with words that do not blame the store', async () => {
  const deliverer = new DeliveryProcess({ stopMillis: 0, onLines: async () => undefined, onCutLine: () => undefined });
  const store = await startTestApp(settings, { deliverer });
  const { data } = await change(store, 'createWebhookEndpoint', { url: 'https://example.com/' });
  const { id } = data.result.webhookEndpoint as { id: string };
  const { errors } = await change(store, 'testWebhookEndpoint', { id }, 'status');
  expect(errors).toMatchObject([
    {
      message: 'The process that sends webhooks is not available at the moment. Try again in a few seconds.',
      extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, retryAfter: 5 },
    },
  ]);
});

it.each([
  ['http://example.com/', 'does not begin with https://.'],
  ['https://10.0.0.1/', 'has an address that is not allowed.'],
  ['https://user@example.com/', 'has a user or a password.'],
  ['https://example.com:1/', expect.stringMatching(/^has a port other than 443/)],
])('%s is refused', async (url, message) => {
  const inbox = await Inbox.start();
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
  const inbox = await Inbox.start();
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox);
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

it('a replay sends once more what was refused, too', async () => {
  let status = 422;
  const inbox = await Inbox.start(() => status);
  const store = await startStore([inbox]);
  const { data: begin } = await store.graphql('{ eventCursor }');
  const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
  await store.category('A');
  await until(async () => (await store.sql("select from webhook_endpoints where refusals <> '{}'")).length === 1);
  // As after five of them.
  const spent = `jsonb_object_agg(key, '{"count":5,"wait":null}'::jsonb)`;
  await store.sql(`update webhook_endpoints set refusals = (select ${spent} from jsonb_each(refusals))`);
  await change(store, 'pauseWebhookEndpoint', { id });
  status = 204;
  await change(store, 'replayWebhookEndpoint', { id, after: begin.eventCursor });
  await change(store, 'resumeWebhookEndpoint', { id });
  await until(() => inbox.requests.length === 2);
  const attempts = 'attempts(first: 2) { nodes { result } }';
  await until(async () => JSON.stringify(await endpoint(store, id, attempts)).includes('DELIVERED'));
  expect(await endpoint(store, id, attempts)).toEqual({
    attempts: { nodes: [{ result: 'DELIVERED' }, { result: 'REFUSED' }] },
  });
});

it('events that an endpoint no longer wants are not sent, though they wait already', async () => {
  const inbox = await Inbox.start(() => 503);
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox);
  await store.category('A');
  await until(() => inbox.requests.length >= 1);
  await change(store, 'updateWebhookEndpoint', { id, eventTypes: ['CATEGORY_UPDATED'], isThin: true });
  const category = await store.category('B');
  await store.ask('PATCH', `/categories/${category}`, { name: 'C' });
  // It is tried again in 5 s.
  await until(() => inbox.events().at(-1)?.type === 'category.updated');
  expect(inbox.events().at(-1)?.data).not.toHaveProperty('object');
  expect(inbox.events().filter(({ type }) => type === 'category.created').length).toBe(1);
});

it('endpoints are changed in a transaction, also when there is one connection to the database', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox], { DATABASE_POOL: '1' });
  const { id } = await create(store, inbox, { eventTypes: ['CATEGORY_CREATED'] });
  const { errors } = await store.graphql(
    `mutation ($id: ID!) @atomic {
      pauseWebhookEndpoint(input: { id: $id }) { webhookEndpoint { id } }
      createCategory(input: { name: "A" }) { category { id } }
      updateWebhookEndpoint(input: { id: $id, maxInFlight: 1 }) { webhookEndpoint { maxInFlight } }
      resumeWebhookEndpoint(input: { id: $id }) { webhookEndpoint { state } }
    }`,
    { id },
  );
  expect(errors).toEqual([]);
  await until(() => inbox.requests.length === 1);
});

it('an endpoint that is deleted while its test is under way is none', async () => {
  let respond: (() => void) | undefined;
  const port = await startReceiver((_request, response) => {
    respond = () => response.writeHead(204).end();
  });
  const store = await startTestApp({ ...settings, WEBHOOK_PORTS: String(port) });
  const { data } = await change(store, 'createWebhookEndpoint', { url: `https://localhost:${port}/` });
  const { id } = data.result.webhookEndpoint as { id: string };
  const testing = change(store, 'testWebhookEndpoint', { id }, 'status');
  await until(() => respond !== undefined);
  await change(store, 'deleteWebhookEndpoint', { id }, 'deletedWebhookEndpointId');
  respond!();
  expect((await testing).codes).toEqual(['NOT_FOUND']);
});

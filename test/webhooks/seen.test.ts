import { createServer } from 'node:https';

import { describe, expect, it } from '@jest/globals';

import { operator } from '../../src/domain/access/principal.ts';
import { WebhookService } from '../../src/domain/webhooks/webhook.service.ts';
import { keptAttempts } from '../../src/domain/webhooks/webhook.store.ts';
import { readConfig } from '../../src/settings/config.ts';
import { makeCertificate } from '../support/certificate.ts';
import { listen } from '../support/listen.ts';
import { openTestDatabase } from '../support/opened-database.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { change, create, endpoint, settings, startStore } from './endpoints.ts';
import { Inbox } from './inbox.ts';

const categories = { eventTypes: ['CATEGORY_CREATED'] };

it('a backlog is seen whatever the state, and only of what is wanted', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox, categories);
  const { id: pausedId } = await create(store, inbox, categories);
  const backlog = async (each: string) => (await endpoint(store, each, 'backlog { events oldestAt }'))['backlog'];
  expect(await backlog(pausedId)).toEqual({ events: 0, oldestAt: null });
  await change(store, 'pauseWebhookEndpoint', { id: pausedId });
  await store.pet();
  await store.category('B');
  await until(async () => JSON.stringify(await backlog(pausedId)).includes('"events":2'));
  expect(await backlog(pausedId)).toEqual({ events: 2, oldestAt: expect.stringMatching(/^20/) });
  await until(async () => JSON.stringify(await backlog(id)).includes('"events":0'));
  store.forgetStatements();
  await store.graphql('{ webhookEndpoints { nodes { backlog { events } } } }');
  expect(store.statements.filter((sql) => sql.includes('array_agg')).length).toBe(1);
});

it('attempts are found by event, and those that failed by themselves', async () => {
  const inbox = await Inbox.start((_event, count) => (count <= 2 ? 422 : 204));
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox, { ...categories, maxInFlight: 1 });
  await change(store, 'testWebhookEndpoint', { id }, 'status');
  await store.category('A');
  const attempts = async (filter: string) =>
    (await endpoint(store, id, `attempts(first: 9, filter: { ${filter} }) { totalCount nodes { status eventId } }`))[
      'attempts'
    ];
  await until(async () => JSON.stringify(await attempts('failedOnly: true')).includes('"totalCount":2'));
  const eventId = inbox.events()[1]!.id;
  expect(await attempts(`eventId: "${eventId}"`)).toMatchObject({ totalCount: 1, nodes: [{ eventId }] });
  expect(await attempts(`eventId: "${eventId}", failedOnly: false`)).toMatchObject({ totalCount: 1 });
  expect(await attempts('eventId: "none"')).toMatchObject({ totalCount: 0, nodes: [] });
});

it('an endpoint whose signing key is not set is held, never signed wrongly, until it gets a new secret', async () => {
  const inbox = await Inbox.start();
  const store = await startStore([inbox], { LOG_LEVEL: 'info' });
  const { id } = await create(store, inbox, categories);
  await change(store, 'pauseWebhookEndpoint', { id });
  await store.sql("update webhook_endpoints set signing_key = 'another'");
  await change(store, 'resumeWebhookEndpoint', { id });
  const verbose = async (): Promise<string> => (await store.ask('GET', '/readyz?verbose')).text;
  await store.category('A');
  expect(await endpoint(store, id)).toMatchObject({ state: 'HELD' });
  expect(await endpoint(store, id, 'heldReason')).toEqual({ heldReason: 'SIGNING_KEY' });
  await until(() => store.log.some(({ msg }) => String(msg).includes('signing key')));
  await until(async () => (await verbose()).includes('warn: 1 webhook endpoint is held'));
  expect(inbox.requests).toEqual([]);
  const { data } = await change(store, 'rotateWebhookSecret', { id }, 'secret');
  inbox.secrets.push(data.result.secret);
  await until(() => inbox.accepted.length === 1);
  expect(await endpoint(store, id)).toMatchObject({ state: 'ACTIVE' });
});

describe('a replay', () => {
  it('begins at or before the position: nothing is skipped', async () => {
    const inbox = await Inbox.start(({ data }) => (JSON.stringify(data).includes('Refused') ? 422 : 204));
    const store = await startStore([inbox]);
    const { id } = await create(store, inbox, categories);
    for (const name of ['Refused', 'B', 'C']) await store.category(name);
    await until(() => inbox.accepted.length === 2);
    const newest = inbox.accepted.at(-1)!.id;
    const { errors } = await change(store, 'replayWebhookEndpoint', { id, after: newest });
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', violations: [{ field: 'after' }] });
  });

  it('tells the receiver what is sent again, and nothing else', async () => {
    const inbox = await Inbox.start();
    const store = await startStore([inbox]);
    const { data: begin } = await store.graphql('{ eventCursor }');
    const { id } = await create(store, inbox, { ...categories, maxInFlight: 1 });
    for (const name of ['A', 'B']) await store.category(name);
    await until(() => inbox.accepted.length === 2);
    await until(async () => JSON.stringify(await endpoint(store, id, 'backlog { events }')).includes(':0'));
    await change(store, 'replayWebhookEndpoint', { id, after: begin.eventCursor });
    await store.category('C');
    await until(() => inbox.requests.length === 5);
    const marks = inbox.requests.map(({ headers }) => headers['webhook-replay']);
    expect(marks).toEqual([undefined, undefined, '1', '1', undefined]);
  });
});

it.each([
  ['url', 'https://example.com/\0'],
  ['url', 'https://example.com/\ud800'],
  ['url', 'https://exa\nmple.com/'],
  ['url', ' https://example.com/'],
  ['url', 'https://example.com/a\tb'],
  ['description', 'a\0b'],
  ['description', 'a\udc00b'],
])('a text that can not be stored as it is is refused: %s %j', async (field, text) => {
  const store = await startTestApp(settings);
  const input = { url: 'https://example.com/', [field]: text };
  const { errors } = await change(store, 'createWebhookEndpoint', input);
  expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', violations: [{ field }] });
});

it('an attempt is kept once, though its answer was lost, and whoever has the lease', async () => {
  let respond: (() => void) | undefined;
  const inbox = await Inbox.start(() => new Promise((resolve) => (respond = () => resolve(204))));
  const store = await startStore([inbox]);
  const { id } = await create(store, inbox, categories);
  await store.category('A');
  await until(() => respond !== undefined);
  await store.sql('update webhook_endpoints set fence = fence + 1, holder = null, leased_until = null');
  await until(() => inbox.requests.length === 2);
  respond!();
  await until(async () => (await store.sql('select from webhook_attempts')).length >= 1);
  expect(await endpoint(store, id, 'attempts { nodes { status } }')).toMatchObject({
    attempts: { nodes: [{ status: 204 }] },
  });
});

it('the history of a deleted endpoint is kept as long as its attempts', async () => {
  const opened = await openTestDatabase();
  const outlet = {
    signingKeys: ['a'],
    refusalOf: () => undefined,
    secretOf: () => '',
    sendTest: async () => undefined,
  };
  const service = new WebhookService(opened.stores, operator, outlet);
  const url = 'https://example.com/';
  const { webhookEndpoint } = await service.create({ url });
  await service.create({ url });
  await service.delete(webhookEndpoint.id);
  const left = () => opened.sql('select action from webhook_endpoint_history');
  const deleteOld = () =>
    opened.stores.webhooks.deleteOld(new Date(Date.now() - keptAttempts.millis), keptAttempts.count);
  await deleteOld();
  expect(await left()).toHaveLength(3);
  await opened.sql("update webhook_endpoint_history set at = at - interval '8 days'");
  await deleteOld();
  expect(await left()).toEqual([{ action: 'created' }]);
});

it('an authority of NODE_EXTRA_CA_CERTS is trusted however it was set; without it the cause names the certificate', async () => {
  const { key, cert, path } = makeCertificate();
  const server = createServer({ key, cert }, (_request, response) => response.writeHead(204).end());
  const port = String(await listen(server));
  const test = async (more: Record<string, string>): Promise<unknown> => {
    const store = await startTestApp({ ...settings, WEBHOOK_PORTS: port, ...more });
    const { data } = await change(store, 'createWebhookEndpoint', { url: `https://localhost:${port}/` });
    const { id } = data.result.webhookEndpoint;
    return (await change(store, 'testWebhookEndpoint', { id }, 'status failure cause')).data.result;
  };
  expect(await test({})).toEqual({
    status: null,
    failure: 'TLS',
    cause: expect.stringMatching(/self-signed certificate/),
  });
  expect(await test({ NODE_EXTRA_CA_CERTS: path })).toEqual({ status: 204, failure: null, cause: null });
  expect(() => readConfig({ ...settings, NODE_EXTRA_CA_CERTS: '/nowhere' })).toThrow(/NODE_EXTRA_CA_CERTS.*ENOENT/);
});

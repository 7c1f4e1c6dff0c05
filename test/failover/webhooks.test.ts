import { expect, it } from '@jest/globals';

import { certificatePath } from '../platform/egress/receiver.ts';
import { runSql } from '../support/postgres-client.ts';
import { adminKey, Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { Inbox } from '../webhooks/inbox.ts';
import { expectDelivered, readLog, typesOf } from '../webhooks/model.ts';
import { Pair } from './pair.ts';

const pair = await Pair.start();

function settingsOf(port: number, database: string): Record<string, string> {
  return {
    DATABASE_URL: pair.urlOf(database),
    DATABASE_POOL: '4',
    WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
    WEBHOOK_ALLOW: '127.0.0.0/8',
    WEBHOOK_PORTS: String(port),
    NODE_EXTRA_CA_CERTS: certificatePath,
  };
}

async function createEndpoint(service: Service, inbox: Inbox): Promise<void> {
  const { body } = await service.graphql(
    `mutation ($url: String!) { createWebhookEndpoint(input: { url: $url }) { secret } }`,
    { url: inbox.url },
  );
  inbox.secrets.push(body.data.createWebhookEndpoint.secret);
}

/** Resolves when the change was delivered. */
async function change(service: Service, inbox: Inbox, name: string): Promise<void> {
  await until(
    async () => (await service.post('/categories', { name }, { 'idempotency-key': `a ${name}` })).status === 201,
    { maxMillis: 60_000 },
  );
  await until(() => namesOf(inbox).includes(name), { maxMillis: 60_000 });
}

function namesOf({ accepted }: Inbox): unknown[] {
  return accepted.map(({ data }) => (data['object'] as { name: string } | undefined)?.name);
}

it('a fail-over that loses nothing is told to nobody; one that loses commits by one store.resync, before what the log has', async () => {
  const inbox = await Inbox.start();
  const service = await Service.start(settingsOf(inbox.port, 'postgres'));
  await createEndpoint(service, inbox);
  await change(service, inbox, 'before');
  await pair.untilReplicated();
  pair.primary.stop();
  pair.switchRoles();
  await change(service, inbox, 'after');
  expectDelivered(inbox, await readLog(service, `Bearer ${adminKey}`));

  // What is committed while the standby is away is lost with the primary.
  await pair.untilReplicated();
  pair.standby.stop();
  for (const name of ['lost 1', 'lost 2']) await change(service, inbox, name);
  pair.primary.stop();
  pair.standby.start();
  const seen = inbox.accepted.length;
  pair.switchRoles();
  await change(service, inbox, 'new');
  expect(typesOf(inbox).slice(seen)[0]).toBe('store.resync');
  expect(typesOf(inbox).filter((type) => type === 'store.resync').length).toBe(1);
  expect(namesOf(inbox).slice(seen)).toEqual([undefined, 'before', 'after', 'new']);
  await service.stop();
});

it('a restored backup is told by one store.resync, with the command of the operations guide', async () => {
  const inbox = await Inbox.start();
  const create = (from: string, to: string): Promise<unknown> =>
    runSql(pair.primary.url.replace(/postgres$/, 'template1'), `create database ${to} template ${from}`);
  await create('template1', 'used');
  let service = await Service.start(settingsOf(inbox.port, 'used'));
  await createEndpoint(service, inbox);
  await change(service, inbox, 'kept');
  await service.stop();
  await create('used', 'backup');
  service = await Service.start(settingsOf(inbox.port, 'used'));
  await change(service, inbox, 'lost');
  await service.stop();

  await runSql(pair.primary.url.replace(/postgres$/, 'backup'), `update webhook_endpoints set position = '0:1'`);
  const seen = inbox.accepted.length;
  service = await Service.start(settingsOf(inbox.port, 'backup'));
  await change(service, inbox, 'new');
  expect(typesOf(inbox).slice(seen)[0]).toBe('store.resync');
  expect(namesOf(inbox).slice(seen)).toEqual([undefined, 'kept', 'new']);
  await service.stop();
});

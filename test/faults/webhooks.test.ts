import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { certificatePath } from '../platform/egress/receiver.ts';
import { findFreePort } from '../support/free-port.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { adminKey, Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';
import { Inbox, type Temper } from '../webhooks/inbox.ts';
import { expectDelivered, type LoggedEvent, readLog } from '../webhooks/model.ts';

const seed = Number(process.env['WEBHOOK_SEED'] ?? 1);
const random = new SeededRandom(seed);
const authorization = `Bearer ${adminKey}`;

/** One response in thirty is 503: the endpoint fails, and is tried again 5 s later, unless it is resumed. */
const flapping: Temper = () => (random.chance(1 / 30) ? 503 : 204);

/** Refuses some events at first: each is sent again 30 s later. */
function refusing(): Temper {
  const seen = new Set<string>();
  return ({ id, type, data }) => {
    const isFirst = !seen.has(id);
    seen.add(id);
    return isFirst && type === 'order.created' && String(data['resource']).endsWith('7') ? 422 : 204;
  };
}

const slow: Temper = async () => {
  await wait(100 + random.below(200));
  return 204;
};

const endpoints = {
  good: { inbox: await Inbox.start(), input: {} },
  ordered: { inbox: await Inbox.start(), input: { maxInFlight: 1 } },
  slow: { inbox: await Inbox.start(slow), input: { maxInFlight: 16 } },
  flapping: { inbox: await Inbox.start(flapping), input: {} },
  refusing: { inbox: await Inbox.start(refusing()), input: {} },
  few: { inbox: await Inbox.start(), input: { eventTypes: ['PET_UPDATED', 'ORDER_CREATED'], isThin: true } },
};
const ports = Object.values(endpoints).map(({ inbox }) => inbox.port);
const closed = await findFreePort();

const cluster = await startCluster();
const settings = {
  DATABASE_URL: cluster.url,
  DATABASE_POOL: '3',
  LOG_LEVEL: 'silent',
  WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
  WEBHOOK_ALLOW: '127.0.0.0/8',
  WEBHOOK_PORTS: [...ports, closed].join(','),
  NODE_EXTRA_CA_CERTS: certificatePath,
  // Nothing is sent through it.
  HTTPS_PROXY: 'http://127.0.0.1:1',
  NODE_USE_ENV_PROXY: '1',
};
const services = [await Service.start(settings), await Service.start(settings)];

async function create(inbox: Inbox | undefined, input: object): Promise<string> {
  const url = inbox?.url ?? `https://127.0.0.1:${closed}/`;
  const { body } = await services[0]!.graphql(
    `mutation ($input: CreateWebhookEndpointInput!) {
      createWebhookEndpoint(input: $input) { webhookEndpoint { id } secret }
    }`,
    { input: { url, ...input } },
  );
  const { webhookEndpoint, secret } = body.data.createWebhookEndpoint;
  inbox?.secrets.push(secret);
  return webhookEndpoint.id as string;
}

/** Changes by both protocols and by SQL; a process that was killed leaves some without a response. */
async function write(isOver: () => boolean): Promise<void> {
  const { body: category } = await services[0]!.post('/categories', { name: 'Dogs' });
  while (!isOver()) {
    const service = services[random.below(2)]!;
    try {
      const { body: pet } = await service.post('/pets', { name: 'a', categoryId: category.id });
      for (const name of ['b', 'c']) await service.patch(`/pets/${pet.id}`, { name });
      await service.patch(`/inventory/${pet.id}`, { quantity: 5 });
      await cluster.sql(`update pets set name = name || 'x' where id % 5 = ${random.below(5)} and id > ${pet.id - 10}`);
      await service.post('/store/orders', { petId: pet.id, quantity: 1 });
    } catch {
      // Its process, or the database, was killed.
    }
    await wait(random.below(100));
  }
}

async function killAndRestart(index: number): Promise<void> {
  await services[index]!.kill();
  services[index] = await Service.start(settings);
}

async function resume(id: string): Promise<void> {
  await services[0]!.graphql(
    `mutation ($id: ID!) { resumeWebhookEndpoint(input: { id: $id }) { webhookEndpoint { id } } }`,
    { id },
  );
}

it(`processes and the database are killed: every event arrives, those of one object in order, at no endpoint a resync (seed ${seed})`, async () => {
  const ids = new Map<string, string>();
  for (const [name, { inbox, input }] of Object.entries(endpoints)) ids.set(name, await create(inbox, input));
  const dead = await create(undefined, {});
  let isOver = false;
  const writing = write(() => isOver);
  await until(() => endpoints.good.inbox.accepted.length > 40, { maxMillis: 60_000 });
  await killAndRestart(0);
  await wait(500 + random.below(1_000));
  cluster.stop();
  await wait(random.below(1_000));
  cluster.start();
  await wait(1_000 + random.below(1_000));
  await killAndRestart(1);
  await wait(2_000);
  isOver = true;
  await writing;

  const last = async (): Promise<unknown> =>
    (await cluster.sql(`select position || ':' || nonce as last from event_state`))[0]?.['last'];
  const behind = async (): Promise<number> => {
    const rows = await cluster.sql('select position from webhook_endpoints where id <> $1', [dead]);
    const end = await last();
    return rows.filter(({ position }) => position !== end).length;
  };
  // Leases of a killed process last 30 s; refused events are tried again after as long.
  await until(
    async () => {
      await resume(ids.get('flapping')!);
      return (await cluster.sql('select from event_outbox')).length === 0 && (await behind()) === 0;
    },
    { maxMillis: 180_000, everyMillis: 1_000 },
  );

  const log = await readLog(services[0]!, authorization);
  expect(log.length).toBeGreaterThan(100);
  const wanted = (each: LoggedEvent): boolean => ['pet.updated', 'order.created'].includes(each.type);
  for (const name of ['good', 'slow', 'flapping', 'refusing'] as const) expectDelivered(endpoints[name].inbox, log);
  expectDelivered(endpoints.ordered.inbox, log, true);
  expectDelivered(endpoints.few.inbox, log.filter(wanted));
  // Two processes and a database were killed. An endpoint that is resumed begins again where it was saved each time.
  const repeated = Object.entries(endpoints).map(
    ([name, { inbox }]) => [name, inbox.accepted.length - new Set(inbox.accepted.map(({ id }) => id)).size] as const,
  );
  console.info({ events: log.length, repeated });
  expect(repeated.filter(([name, count]) => name !== 'flapping' && count > 300)).toEqual([]);
  const [row] = await cluster.sql('select count(distinct holder)::int as holders from webhook_endpoints');
  expect(row).toEqual({ holders: 2 });
  const [deadRow] = await cluster.sql('select position, is_healthy from webhook_endpoints where id = $1', [dead]);
  expect(deadRow).toMatchObject({ is_healthy: false });
}, 400_000);

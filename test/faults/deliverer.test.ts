import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { childrenOf } from '../bench/measured-process.ts';
import { certificatePath } from '../platform/egress/receiver.ts';
import { atEnd } from '../support/at-end.ts';
import { adminKey, Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { awaitValue, until } from '../support/until.ts';
import { isRunning } from '../support/workers.ts';
import { Inbox, isVerified, type Temper } from '../webhooks/inbox.ts';
import { expectDelivered, type LoggedEvent, readLog } from '../webhooks/model.ts';

/** A process takes seconds to start on a machine that does other things. */
const maxMillis = 120_000;

const cluster = await startCluster();

function settingsFor(inbox: Inbox): Record<string, string> {
  return {
    DATABASE_URL: cluster.url,
    DATABASE_POOL: '4',
    WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
    WEBHOOK_ALLOW: '127.0.0.0/8',
    WEBHOOK_PORTS: String(inbox.port),
    NODE_EXTRA_CA_CERTS: certificatePath,
  };
}

async function start(inbox: Inbox, workers = '1'): Promise<Service> {
  const service = await Service.start({ ...settingsFor(inbox), WORKERS: workers });
  await cluster.sql('delete from webhook_endpoints');
  const { body } = await service.graphql(
    'mutation ($url: String!) { createWebhookEndpoint(input: { url: $url, maxInFlight: 1 }) { secret } }',
    { url: inbox.url },
  );
  inbox.secrets.push(body.data.createWebhookEndpoint.secret as string);
  return service;
}

function isDeliverer(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('deliverer');
}

/** The process that delivers. */
async function delivererOf(service: Service): Promise<number> {
  const find = async (): Promise<number | undefined> =>
    childrenOf(service.pid).find((pid) => isRunning(pid) && isDeliverer(pid));
  return (await awaitValue(find, (pid) => pid !== undefined, { maxMillis }))!;
}

/** Of the endpoint: changes when another process has waited until its lease was over. */
async function fence(): Promise<unknown> {
  const [row] = await cluster.sql('select fence from webhook_endpoints');
  return row;
}

/** What was logged since its first event: earlier tests share the database. */
async function logSince(service: Service, inbox: Inbox): Promise<LoggedEvent[]> {
  const log = await readLog(service, `Bearer ${adminKey}`);
  return log.slice(log.findIndex(({ id }) => id === inbox.accepted[0]?.id));
}

/** Ten changes a second until `stop`, which resolves with how many there were; each must be carried out. */
function write(service: Service): { stop(): Promise<number> } {
  const ending = new AbortController();
  const writing = (async () => {
    let count = 0;
    for (; !ending.signal.aborted; count += 1) {
      const { status } = await service.post('/categories', { name: `Category ${count}` });
      expect(status).toBe(201);
      await wait(100);
    }
    return count;
  })();
  const stop = (): Promise<number> => {
    ending.abort();
    return writing;
  };
  // When the test fails before: without a service it would fail the file that comes next.
  atEnd(() => stop().catch(() => undefined));
  return { stop };
}

/** One that hangs is killed when it hasn't said anything for ten seconds. */
const ends: Readonly<Record<'is killed' | 'has no memory left, as V8 says it,' | 'hangs', (pid: number) => void>> = {
  'is killed': (pid) => process.kill(pid, 'SIGKILL'),
  'has no memory left, as V8 says it,': (pid) => process.kill(pid, 'SIGABRT'),
  hangs: (pid) => process.kill(pid, 'SIGSTOP'),
};

it.each([
  ['is killed', '1'],
  ['is killed', '2'],
  ['has no memory left, as V8 says it,', '1'],
  ['hangs', '1'],
] as const)(
  'the process that delivers %s (WORKERS=%s): the service serves, and another one goes on at once, with every event',
  async (what, workers) => {
    const inbox = await Inbox.start();
    const service = await start(inbox, workers);
    const writing = write(service);
    await until(() => inbox.accepted.length > 10, { maxMillis });
    const before = await delivererOf(service);
    const leased = await fence();
    ends[what](before);
    await until(() => !isRunning(before), { maxMillis });
    const after = await delivererOf(service);
    expect(after).not.toBe(before);
    const sent = inbox.accepted.length;
    await until(() => inbox.accepted.length > sent, { maxMillis });
    expect(await fence()).toEqual(leased);
    const count = await writing.stop();
    await until(() => new Set(inbox.accepted.map(({ id }) => id)).size === count, { maxMillis });
    expectDelivered(inbox, await logSince(service, inbox), true);
    expect(await service.stop()).toBe(0);
    expect(isRunning(after)).toBe(false);
  },
  4 * maxMillis,
);

it(
  'a process that delivers goes on where it was when it was stopped for a while, and the service serves meanwhile',
  async () => {
    const inbox = await Inbox.start();
    const service = await start(inbox);
    const pid = await delivererOf(service);
    process.kill(pid, 'SIGSTOP');
    const writing = write(service);
    await wait(3_000);
    process.kill(pid, 'SIGCONT');
    const count = await writing.stop();
    await until(() => inbox.accepted.length === count, { maxMillis });
    expectDelivered(inbox, await logSince(service, inbox), true);
    expect(await delivererOf(service)).toBe(pid);
    expect(await service.stop()).toBe(0);
  },
  2 * maxMillis,
);

it(
  'SIGTERM waits for what is under way, and saves it',
  async () => {
    let slow = 0;
    const temper: Temper = async () => {
      slow += 1;
      await wait(1_000);
      return 204;
    };
    const inbox = await Inbox.start(temper);
    const service = await start(inbox);
    await service.post('/categories', { name: 'Dogs' });
    await until(() => slow === 1, { maxMillis });
    expect(await service.stop()).toBe(0);
    expect(inbox.accepted.length).toBe(1);
    const saved = `select status, leased_until <= now() as is_free
      from webhook_attempts join webhook_endpoints as endpoint on endpoint.id = endpoint_id`;
    expect(await cluster.sql(saved)).toEqual([{ status: 204, is_free: true }]);
  },
  maxMillis,
);

it(
  'kill -9 of the service ends the process that delivers',
  async () => {
    const inbox = await Inbox.start();
    const service = await start(inbox);
    const pid = await delivererOf(service);
    await service.kill();
    await until(() => !isRunning(pid), { maxMillis });
    expect(isRunning(pid)).toBe(false);
  },
  maxMillis,
);

it(
  'a rotation reaches whichever service delivers: after it everything is signed by the new secret alone',
  async () => {
    const inbox = await Inbox.start();
    const service = await start(inbox);
    const other = await Service.start(settingsFor(inbox));
    const writing = write(service);
    await until(() => inbox.accepted.length > 5, { maxMillis });
    const { id } = (await service.graphql('{ webhookEndpoints { nodes { id } } }')).body.data.webhookEndpoints.nodes[0];
    for (const each of [service, other, service, other]) {
      const { body } = await each.graphql(
        'mutation ($id: ID!) { rotateWebhookSecret(input: { id: $id, overlapSeconds: 0 }) { secret } }',
        { id },
      );
      const { secret } = body.data.rotateWebhookSecret as { readonly secret: string };
      inbox.secrets.push(secret);
      // What was on its way may come later, signed as it was.
      const isNew = () => inbox.requests.slice(-10).every((request) => isVerified(secret, request));
      await until(isNew, { maxMillis });
    }
    await writing.stop();
    expect(await Promise.all([service.stop(), other.stop()])).toEqual([0, 0]);
  },
  2 * maxMillis,
);

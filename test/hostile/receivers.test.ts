import { afterAll, expect, it } from '@jest/globals';

import { certificatePath } from '../platform/egress/receiver.ts';
import { atEnd } from '../support/at-end.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';
import { Inbox } from '../webhooks/inbox.ts';
import { pause } from './raw-requests.ts';
import { receivers } from './receivers.ts';
import { endure, expectHarmless, expectServed, printTable, timeoutMillis } from './report.ts';
import { type Damage, Target } from './target.ts';

/** One address each: of one address there are at most 8 requests under way. */
const hosts = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);
const perSecond = 30;
const seconds = 3;

const good = await Inbox.start();
const urls: Record<string, string[]> = {};
for (const [name, start] of Object.entries(receivers)) {
  const ports = await Promise.all(hosts.map(start));
  urls[name] = hosts.map((host, index) => `https://${host}:${ports[index]}/`);
}

const cluster = await startCluster();
const target = await Target.start({
  DATABASE_URL: cluster.url,
  BAN_AFTER: '0',
  WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
  WEBHOOK_ALLOW: '127.0.0.0/8',
  WEBHOOK_PORTS: [good.url, ...Object.values(urls).flat()].map((url) => new URL(url).port).join(),
  NODE_EXTRA_CA_CERTS: certificatePath,
});
await cluster.sql(`insert into categories (name) select 'Category ' || n from generate_series(1, 50) n;
  insert into pets (name, category_id) select 'Pet ' || n, n from generate_series(1, 50) n`);

atEnd(() => target.service.stop());
afterAll(printTable);

async function createEndpoint(url: string): Promise<string> {
  const { body } = await target.service.graphql(
    'mutation ($url: String!) { createWebhookEndpoint(input: { url: $url, maxInFlight: 16 }) { secret } }',
    { url },
  );
  return body.data.createWebhookEndpoint.secret as string;
}

/** Changes objects while events are delivered to these and to a good one, which gets all of them. */
async function deliverTo(hostile: readonly string[]): Promise<string> {
  good.secrets.push(await createEndpoint(good.url));
  for (const url of hostile) await createEndpoint(url);
  const before = good.accepted.length;
  const changes = perSecond * seconds;
  for (let change = 0; change < changes; change += 1) {
    // Past the service, so that it has nothing else to do.
    await cluster.sql(`update categories set description = '${before} ${change}' where id = ${1 + (change % 50)}`);
    await pause(1 / perSecond);
  }
  const accepted = (): number => new Set(good.accepted.slice(before).map(({ id }) => id)).size;
  try {
    await until(() => accepted() === changes, { maxMillis: 60_000 });
  } finally {
    await cluster.sql('delete from webhook_endpoints');
  }
  return `${accepted()} events`;
}

/** Of each of the neighbour's requests: on a busy machine an attack takes longer. */
function processorMillis({ cpuMillis, neighbour }: Damage): number {
  return cpuMillis / Object.values(neighbour.statuses).reduce((sum, count) => sum + count, 0);
}

// The same events, and nothing hostile.
const [, [quiet]] = await endure(target, () => deliverTo([]));

it.each(Object.entries(receivers))(
  'a good endpoint gets its events, and the process that serves does no more, with receivers of: %s',
  async (name) => {
    const [responses, damages] = await endure(target, () => deliverTo(urls[name]!));
    expectHarmless(name, responses, damages);
    for (const damage of damages) {
      expectServed(damage);
      expect(processorMillis(damage)).toBeLessThan(2 * processorMillis(quiet!) + 1);
    }
  },
  timeoutMillis,
);

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, expect, it } from '@jest/globals';

import { certificate } from '../platform/egress/receiver.ts';
import { atEnd } from '../support/at-end.ts';
import { makeCertificate, rsaKey } from '../support/certificate.ts';
import { spawnChild } from '../support/child-process.ts';
import { startCluster } from '../support/started-cluster.ts';
import { until } from '../support/until.ts';
import { Inbox } from '../webhooks/inbox.ts';
import { pause } from './raw-requests.ts';
import { endure, expectHarmless, expectServed, printTable, timeoutMillis } from './report.ts';
import { type Damage, Target } from './target.ts';

const perSecond = 30;
const seconds = 3;
const receiversOfKind = 8;
/** These take slots, so many of them, and it takes longer until a good endpoint falls behind. */
const slotAttacks: Readonly<Record<string, number>> = {
  '2xx after 1.5 s': 16,
  'quick and stalled responses in turn': 8,
};
const slotSeconds = 10;
/** Of the last event of a good endpoint: less than the time-out that a stalled receiver has. */
const maxLateMillis = 13_000;

const good = await Inbox.start();
const { cert, folder } = makeCertificate(rsaKey);
const trusted = join(folder, 'trusted.pem');
writeFileSync(trusted, certificate.cert + cert);
const program = join(import.meta.dirname, '../support/hostile-receivers-process.ts');
const receivers = spawnChild(process.execPath, [program, folder, '16'], { stdio: ['pipe', 'pipe', 'inherit'] });
const [line] = (await once(createInterface({ input: receivers.stdout }), 'line')) as [string];
const urls = JSON.parse(line) as Readonly<Record<string, readonly string[]>>;

const cluster = await startCluster();
const target = await Target.start({
  DATABASE_URL: cluster.url,
  BAN_AFTER: '0',
  WEBHOOK_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
  WEBHOOK_ALLOW: '127.0.0.0/8',
  WEBHOOK_PORTS: [good.url, ...Object.values(urls).flat()].map((url) => new URL(url).port).join(),
  NODE_EXTRA_CA_CERTS: trusted,
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
async function deliverTo(hostile: readonly string[], forSeconds = seconds): Promise<string> {
  good.secrets.push(await createEndpoint(good.url));
  for (const url of hostile) await createEndpoint(url);
  const before = good.accepted.length;
  const changes = perSecond * forSeconds;
  for (let change = 0; change < changes; change += 1) {
    // Past the service, so that it has nothing else to do.
    await cluster.sql(`update categories set description = '${before} ${change}' where id = ${1 + (change % 50)}`);
    await pause(1 / perSecond);
  }
  const accepted = (): number => new Set(good.accepted.slice(before).map(({ id }) => id)).size;
  try {
    await until(() => accepted() === changes, { maxMillis: maxLateMillis });
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

it.each(Object.entries(urls))(
  'a good endpoint gets its events, and the process that serves does no more, with receivers of: %s',
  async (name, all) => {
    const hostile = all.slice(0, slotAttacks[name] ?? receiversOfKind);
    const [responses, damages] = await endure(target, () =>
      deliverTo(hostile, name in slotAttacks ? slotSeconds : seconds),
    );
    expectHarmless(name, responses, damages);
    for (const damage of damages) {
      expectServed(damage);
      expect(processorMillis(damage)).toBeLessThan(2 * processorMillis(quiet!) + 1);
    }
  },
  timeoutMillis,
);

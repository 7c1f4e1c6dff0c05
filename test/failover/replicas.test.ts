import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { atEnd } from '../support/at-end.ts';
import { listenBefore } from '../support/listen.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { PgBouncer } from '../faults/database/pgbouncer.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { History } from './history.ts';
import { bytes, flushed, named, readsBy, replayed, set } from './standbys.ts';

/** A primary and two standbys of it. */
const primary = await PostgresCluster.create();
const [first, second] = [await primary.addStandby(), await primary.addStandby()];
atEnd(() => [second, first, primary].forEach((server) => server.remove()));

const settings = {
  DATABASE_URL: `postgresql://postgres:petstore@${named(primary, first)}/postgres`,
  DATABASE_REPLICAS: named(first, second),
  LOG_LEVEL: 'warn',
};
const services: [Service, Service, ...Service[]] = [await Service.start(settings), await Service.start(settings)];
const history = await History.begin(services);
atEnd(() => history.stop());

const readsOf = (server: string, reason?: string): Promise<number> => readsBy(services, server, reason);

/** What the service says when it is ready; it is so without any standby. */
async function verbose(service: Service = services[0]): Promise<string> {
  const response = await fetch(`${service.address}/readyz?verbose`);
  return response.status === 200 ? response.text() : '';
}

/** The standby has served so many more reads. */
async function serves(standby: PostgresCluster, reads = 50): Promise<void> {
  const before = await readsOf(named(standby));
  await until(async () => (await readsOf(named(standby))) > before + reads);
}

/** So many more reads were compared, whoever has served them. */
async function compared(reads: number): Promise<void> {
  const before = history.compared;
  await until(() => history.compared > before + reads);
}

it('serves reads on standbys, none of them older than a write that was acknowledged before', async () => {
  history.start();
  await Promise.all([serves(first, 200), serves(second, 200)]);
  await until(async () => (await verbose()).includes(`[+]replica ${named(first)} ok`));
  expect(history.stale).toEqual([]);
});

it('waits for standbys that are a moment behind all the time', async () => {
  for (const standby of [first, second]) await set(standby, "set recovery_min_apply_delay = '5ms'");
  await Promise.all([serves(first, 100), serves(second, 100)]);
  for (const standby of [first, second]) await set(standby, 'reset recovery_min_apply_delay');
  expect(history.stale).toEqual([]);
});

it('uses no position that the primary was asked for before the read was, however long it takes to come', async () => {
  // A position that was under way is reached as soon as it has come, and what was written meanwhile is not.
  const port = await listenBefore(primary.port, (client, server) => {
    client.on('data', (chunk) => void server.write(chunk));
    server.on('data', (chunk) => void setTimeout(() => client.write(chunk), 30));
  });
  await set(first, "set recovery_min_apply_delay = '35ms'");
  const url = primary.url.replace(String(primary.port), String(port));
  const service = await Service.start({ DATABASE_URL: url, DATABASE_REPLICAS: named(first), LOG_LEVEL: 'warn' });
  atEnd(() => service.stop());
  services.push(service);
  atEnd(() => services.pop());
  await serves(first, 100);
  await set(first, 'reset recovery_min_apply_delay');
  expect(history.stale).toEqual([]);
});

it.each([
  [
    'replay is paused',
    (standby: PostgresCluster) => standby.sql('select pg_wal_replay_pause()'),
    (standby: PostgresCluster) => standby.sql('select pg_wal_replay_resume()'),
  ],
  [
    'replay is delayed',
    (standby: PostgresCluster) => set(standby, "set recovery_min_apply_delay = '100ms'"),
    (standby: PostgresCluster) => set(standby, 'reset recovery_min_apply_delay'),
  ],
])('leaves a standby out while %s', async (_, begin, end) => {
  await begin(first);
  const before = await readsOf('primary', 'lagging');
  await until(async () => (await readsOf('primary', 'lagging')) > before);
  await Promise.all([compared(500), serves(second)]);
  await end(first);
  await serves(first);
  expect(history.stale).toEqual([]);
});

it.each([
  ['hangs', (standby: PostgresCluster) => standby.pause(), (standby: PostgresCluster) => standby.resume()],
  ['has crashed', (standby: PostgresCluster) => standby.stop(), (standby: PostgresCluster) => standby.start()],
])('refuses nothing because a standby %s, and says so in the log', async (_, begin, end) => {
  const lines = (): number => services[0].output.split(`"server":"${named(second)}","problem"`).length;
  const before = lines();
  begin(second);
  await Promise.all([compared(1000), serves(first)]);
  await until(async () => (await verbose()).includes(`the replica ${named(second)}`));
  await until(() => lines() > before);
  end(second);
  await serves(second);
  expect([...history.refusals]).toEqual([]);
  expect(history.stale).toEqual([]);
});

it('a process that was stopped for a second reads what others have written meanwhile', async () => {
  services[1].signal('SIGSTOP');
  await wait(1000);
  services[1].signal('SIGCONT');
  await compared(500);
  expect(history.stale).toEqual([]);
});

it('uses no pooler before a standby: it may lead to several servers', async () => {
  const start = (server: PostgresCluster) => PgBouncer.start(server.url, { pool_mode: 'session' });
  const [before, beside] = [await start(primary), await start(first)];
  atEnd(() => Promise.all([before.stop(), beside.stop()]));
  const { host } = new URL(beside.url);
  const service = await Service.start({ DATABASE_URL: before.url, DATABASE_REPLICAS: host, LOG_LEVEL: 'warn' });
  atEnd(() => service.stop());
  const words = `the replica ${host}: The database at ${host} is behind a pooler`;
  await until(async () => (await verbose(service)).includes(words));
  const { body } = await service.graphql('{ categories(first: 1) { nodes { name } } }');
  expect(body.data.categories.nodes).toHaveLength(1);
});

it('leaves out a standby that is ahead of the new primary, on the time line of the old one', async () => {
  await history.stop();
  // It misses what only the other standby gets.
  first.stop();
  await primary.sql(`insert into categories (name) select 'Lost ' || n from generate_series(1, 5000) as n`);
  const end = await bytes(primary, flushed);
  await until(async () => (await bytes(second, replayed)) >= end);
  primary.stop();
  first.start();
  first.promote();
  await until(async () => (await verbose()).includes(`the replica ${named(second)}: it is of another time line`));
  const [service] = services;
  const created = await service.post('/categories', { name: 'On the new time line' });
  expect(created.status).toBe(201);
  // Nothing but the time line tells it apart.
  expect(await bytes(second, replayed)).toBeGreaterThan(await bytes(first, flushed));
  const found = await service.graphql('query ($id: ID!) { category(id: $id) { name } }', { id: created.body.id });
  expect(found.body.data.category).toEqual({ name: 'On the new time line' });
});

it('uses the standby again when it follows the new primary, and not what is no standby any more', async () => {
  second.stop();
  second.follow(first);
  await until(async () => (await verbose()).includes(`[+]replica ${named(second)} ok`));
  expect(await verbose()).toContain(`the replica ${named(first)}: The database at ${named(first)} is no standby.`);
  const before = await readsOf(named(second));
  const { body } = await services[0].graphql('{ categories(first: 1) { nodes { name } } }');
  expect(body.data.categories.nodes).toHaveLength(1);
  expect(await readsOf(named(second))).toBeGreaterThan(before);
});

it('uses no standby while commits can be seen before they are in the log, and says so', async () => {
  const words = 'synchronous_commit is off';
  await set(first, 'set synchronous_commit = off');
  await until(async () => (await verbose()).includes(words));
  await services[0].line(new RegExp(words));
  const before = await readsOf(named(second));
  await services[0].graphql('{ categories(first: 1) { nodes { name } } }');
  expect(await readsOf(named(second))).toBe(before);
  await set(first, 'reset synchronous_commit');
  await until(async () => (await verbose()).includes(`[+]replica ${named(second)} ok`));
});

it('reads nothing on a standby once it is promoted', async () => {
  second.promote();
  await second.sql(`update categories set name = 'Of nobody'`);
  const { body } = await services[0].graphql('{ categories(first: 20) { nodes { name } } }');
  expect(JSON.stringify(body.data)).not.toContain('Of nobody');
  await until(async () => (await verbose()).includes(`${named(second)} is no standby`));
  primary.start();
});

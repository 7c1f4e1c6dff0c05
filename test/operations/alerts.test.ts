import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts';
import { atEnd } from '../support/at-end.ts';
import { connect, runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { listenHere } from '../support/test-app.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { awaitValue } from '../support/until.ts';
import { runBare, takeBlock } from './command-blocks.ts';
import { backedUpAt, backupAge, fired, firingAlerts, firingAlertsWith, rules, type Scrape } from './fired-alerts.ts';
import { deployFile, guideTable } from './guide.ts';

const signingKey = 'a'.repeat(64);
const directory = temporaryDirectory();
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

const [cluster, redis] = await Promise.all([startCluster(), RedisServer.start()]);
const settings = {
  DATABASE_URL: cluster.url,
  REDIS_URL: redis.url,
  DATABASE_POOL: '4',
  BAN_AFTER: '0',
  WEBHOOK_SIGNING_KEY: signingKey,
};
const service = await listenHere(settings);

async function scrape({ address } = service): Promise<Scrape> {
  const response = await fetch(`${address}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** Metrics that only the primary of several workers has (`test/faults/workers/ends.test.ts`). */
const ofPrimary = ['petstore_workers', 'petstore_worker_restarts_total'];

describe('the alerts of the guide, on the metrics of a real process', () => {
  test('the rules are valid, and every metric in them exists', async () => {
    await service.graphql('{ pets(first: 1) { totalCount } }');
    execFileSync('promtool', ['check', 'rules', rules]);
    const present = [...(await scrape()).keys()].map((name) => name.replace(/\{.*/, ''));
    const used = new Set(deployFile('alerts.yml', []).match(/petstore_\w+/g));
    // It appears with the first error of GraphQL; this one 15 seconds after the start, and below.
    used.delete('petstore_graphql_errors_total');
    used.delete('petstore_webhook_endpoints');
    // With replicas alone; below.
    used.delete('petstore_reads_total');
    for (const name of ofPrimary) used.delete(name);
    // Of the backup, by the node exporter.
    used.delete(backupAge);
    expect(present).toEqual(expect.arrayContaining([...used]));
  });

  test('the dashboard shows every metric of the service and no other, by queries that Prometheus accepts', async () => {
    const { panels } = JSON.parse(deployFile('grafana.json', [])) as Dashboard;
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const record = (expr: string, n: number) => ({
      record: `query_${n}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    });
    const file = join(directory, 'dashboard.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: queries.map(record) }] }));
    execFileSync('promtool', ['check', 'rules', file], { stdio: 'pipe' });
    const here = (await (await fetch(`${service.address}/metrics`)).text()).match(/(?<=^# TYPE )\w+/gm) ?? [];
    const exposed = [...here, ...ofPrimary];
    const names = queries.join(' ').match(/\b(?:petstore|nodejs|process)_\w+/g) ?? [];
    const shown = new Set(names.map((name) => name.replace(/_bucket$/, '')));
    expect(exposed).toEqual(expect.arrayContaining([...shown]));
    expect([...shown].filter((name) => name.startsWith('petstore_')).toSorted()).toEqual(
      exposed.filter((name) => name.startsWith('petstore_')).toSorted(),
    );
  });

  test('promtool finds nothing to complain of in the metrics', async () => {
    const input = await (await fetch(`${service.address}/metrics`)).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  test('none fires while requests are served', async () => {
    const before = await scrape();
    for (let turn = 0; turn < 20; turn += 1)
      expect((await service.graphql('{ pets(first: 1) { totalCount } }')).status).toBe(200);
    expect(firingAlerts({ before, after: await scrape() })).toEqual([]);
  });

  test('PetstoreDown fires when a process is not reached, PetstoreOutage when none is, or none is known', () => {
    const reached = { after: new Map<string, number>() };
    const lost = { ...reached, up: 0 };
    expect(firingAlerts(reached, lost)).toEqual(['PetstoreDown']);
    expect(firingAlerts(lost, lost)).toEqual(['PetstoreDown', 'PetstoreOutage']);
    expect(firingAlerts()).toEqual(['PetstoreOutage']);
  });

  test('PetstoreRefusals fires when requests keep going beyond a bound', async () => {
    const before = await scrape();
    const deep = `{ ${'pets { edges { node { category { '.repeat(5)} id ${'} } } }'.repeat(5)} }`;
    for (let turn = 0; turn < 30; turn += 1) expect((await service.graphql(deep)).status).toBe(400);
    expect(firingAlerts({ before, after: await scrape() })).toEqual(['PetstoreRefusals']);
  });

  test('PetstoreUnauthorized fires when a tenth of the requests has no valid key', async () => {
    const before = await scrape();
    for (let turn = 0; turn < 30; turn += 1)
      expect((await service.graphql('{ pets { totalCount } }', {}, turn < 20 ? 'no-key' : undefined)).status).toBe(
        turn < 20 ? 401 : 200,
      );
    expect(firingAlerts({ before, after: await scrape() })).toEqual(['PetstoreUnauthorized']);
  });

  test('PetstoreSlow fires when one request in a hundred takes longer than a second, however many probes are fast', async () => {
    const blocking = await connect(cluster.url);
    await blocking.query('begin; lock table pets in access exclusive mode');
    const before = await scrape();
    for (let probe = 0; probe < 300; probe += 1) await service.get('/healthz');
    // It ends with the time of a statement.
    expect((await service.graphql('{ pets(first: 1) { nodes { id } } }')).body.errors).toHaveLength(1);
    const after = await scrape();
    await blocking.end();
    const durations = [...after].filter(([name]) => name.startsWith('petstore_request_duration_seconds_bucket'));
    expect(firingAlerts({ before, after: new Map(durations) })).toEqual(['PetstoreSlow']);
  });

  test('PetstoreBans fires when clients go on until they are banned', async () => {
    const strict = await listenHere({ DATABASE_URL: cluster.url, BAN_AFTER: '1' });
    const keys = await Promise.all(Array.from({ length: 3 }, () => strict.createKey('plan: FREE')));
    const before = await scrape(strict);
    const statuses = await Promise.all(
      keys.map(async (key) => {
        const headers = { authorization: `Bearer ${key}` };
        return awaitValue(
          async () => (await strict.get('/pets?limit=1', headers)).status,
          (status) => status === 403,
        );
      }),
    );
    expect(statuses).toEqual([403, 403, 403]);
    const bans = [...(await scrape(strict))].filter(([name]) => name.startsWith('petstore_bans_total'));
    await strict.close();
    expect(firingAlerts({ before, after: new Map(bans) })).toEqual(['PetstoreBans']);
  });

  test('PetstoreBackup fires when the documented file of a backup is a day and a quarter old, or missing', () => {
    const file = join(directory, 'petstore');
    const backUp = takeBlock(
      'Metrics and alerts 1',
      ['/var/lib/prometheus/node-exporter/petstore', file],
      ['/etc/petstore', directory],
    );
    const write = (url: string): string => {
      writeFileSync(join(directory, 'owner'), `DATABASE_URL=${url}\n`);
      return runBare(`${backUp}\nls`, directory);
    };
    expect(write('postgresql://127.0.0.1:1/none')).not.toContain('petstore.prom');
    expect(write(cluster.url)).toMatch(/^petstore\.prom$/m);
    const [, name, seconds] = /^(\w+) (\d+)\n$/.exec(readFileSync(`${file}.prom`, 'utf8')) ?? [];
    expect([name, Math.abs(Number(seconds) * 1000 - Date.now()) < 60_000]).toEqual([backupAge, true]);
    const reached = { after: new Map<string, number>() };
    const firing = (others: object[]): string[] => firingAlertsWith(others, reached);
    expect([firing(backedUpAt(-27)), firing(backedUpAt(-30)), firing([])]).toEqual([
      [],
      ['PetstoreBackup'],
      ['PetstoreBackup'],
    ]);
  });

  test('PetstoreQuotaNotShared fires while Redis is gone', async () => {
    await redis.kill();
    await service.graphql('{ pets(first: 1) { totalCount } }');
    const now = await scrape();
    expect(firingAlerts({ after: now })).toEqual(['PetstoreQuotaNotShared']);
    await redis.restart();
  });

  test('PetstoreReplicasUnused fires while the primary serves what replicas may serve', async () => {
    const standby = await cluster.addStandby();
    atEnd(() => standby.remove());
    const firing = async (named: string, server: string, reason: string): Promise<string[]> => {
      const other = await listenHere({ DATABASE_URL: cluster.url, DATABASE_REPLICAS: named, BAN_AFTER: '0' });
      const series = `petstore_reads_total{server="${server}",reason="${reason}"}`;
      const readUntil = (reads: number): Promise<Scrape> =>
        awaitValue(
          async () => {
            await other.graphql('{ pets(first: 1) { nodes { id } } }');
            return new Map([...(await scrape(other))].filter(([name]) => name.startsWith('petstore_reads')));
          },
          (now) => (now.get(series) ?? 0) >= reads,
        );
      const before = await readUntil(1);
      const after = await readUntil(20 + before.get(series)!);
      await other.close();
      return firingAlerts({ before, after });
    };
    const [itself, follower] = [cluster, standby].map(({ port }) => `127.0.0.1:${port}`) as [string, string];
    expect(await firing(itself, 'primary', 'unsuitable')).toEqual(['PetstoreReplicasUnused']);
    expect(await firing(follower, follower, 'fresh')).toEqual([]);
  });

  test("PetstoreClock fires while a process's clock differs from the database's", async () => {
    const name = 'petstore_clock_offset_seconds';
    const offset = (await scrape()).get(name) ?? NaN;
    expect(Math.abs(offset)).toBeLessThan(2);
    for (const [seconds, firing] of [
      [offset - 3, ['PetstoreClock']],
      [offset + 3, ['PetstoreClock']],
      [offset, []],
    ] as const) {
      expect(firingAlerts({ after: new Map([[name, seconds]]) })).toEqual(firing);
    }
  });

  test('PetstoreWorkerRestarts fires when workers keep ending', () => {
    const name = 'petstore_worker_restarts_total';
    const firing = (ends: number): string[] =>
      firingAlerts({ before: new Map([[name, 0]]), after: new Map([[name, ends]]) });
    expect([firing(0), firing(1)]).toEqual([[], ['PetstoreWorkerRestarts']]);
  });

  test('PetstoreEventsLag fires while no process moves changes into the log', async () => {
    const blocking = await connect(cluster.url);
    await blocking.query('select pg_advisory_lock(7338474785)');
    await blocking.query(`update event_state set moved_at = now() - interval '1 minute'`);
    await blocking.query(`insert into event_outbox (at, type) values (now() - interval '1 minute', 'store.resync')`);
    const lag = async (): Promise<Scrape> =>
      new Map([...(await scrape())].filter(([name]) => name === 'petstore_events_lag_seconds'));
    const isLate = (now: Scrape): boolean => now.get('petstore_events_lag_seconds') !== 0;
    const late = await awaitValue(lag, isLate);
    expect(firingAlerts({ after: late })).toEqual(['PetstoreEventsLag']);
    await blocking.end();
    const moved = await awaitValue(lag, (now) => !isLate(now));
    expect(firingAlerts({ after: moved })).toEqual([]);
  });

  test('PetstoreDatabaseWaiting fires while more requests than connections wait, PetstoreServerErrors once they fail', async () => {
    cluster.pause();
    const before = await scrape();
    const under = Array.from({ length: 20 }, (_, n) =>
      service.graphql(`{ pets(filter: { nameContains: "${n}" }) { totalCount } }`),
    );
    const waiting = await awaitValue(scrape, (now) => (now.get('petstore_database_waiting') ?? 0) > 0);
    const statuses = (await Promise.all(under)).map(({ status }) => status);
    const after = await scrape();
    const lost = await awaitValue(scrape, (now) => ![...now.keys()].some((name) => name.includes('role="primary"')));
    cluster.resume();
    expect(statuses).toContain(503);
    const only = (now: Scrape, name: string): Scrape => new Map([...now].filter(([each]) => each.startsWith(name)));
    expect(firingAlerts({ after: only(waiting, 'petstore_database_waiting') })).toEqual(['PetstoreDatabaseWaiting']);
    expect(firingAlerts({ before, after: only(after, 'petstore_requests') })).toEqual(['PetstoreServerErrors']);
    expect(firingAlerts({ after: only(lost, 'petstore_database_server') })).toEqual(['PetstoreNoPrimary']);
    expect(firingAlerts({ after: only(before, 'petstore_database_server') })).toEqual([]);
  });

  test('those of webhooks fire when an endpoint fails, is disabled, or is sent events late', async () => {
    await runSql(
      cluster.url,
      `insert into webhook_endpoints (url, is_thin, max_in_flight, position, signing_key, failures, failing_since,
         failed_at, next_attempt_at, disabled_reason)
       select url, false, 4, '0:0', coalesce(key, holder.fingerprint), failures, since, since, since + interval '1 hour', reason
       from (values
         ('https://a.example/', null, 1, now(), null),
         ('https://b.example/', null, 0, null, 'GONE'),
         ('https://c.example/', 'another', 0, null, null)) as given (url, key, failures, since, reason),
         (select $1::text as fingerprint) as holder`,
      [new WebhookSecrets([Buffer.from(signingKey, 'hex')]).fingerprints[0]],
    );
    const only = async (name: string): Promise<Scrape> =>
      new Map([...(await scrape())].filter(([each]) => each.startsWith(name)));
    const endpoints = await awaitValue(
      () => only('petstore_webhook_endpoints'),
      (now) => now.get('petstore_webhook_endpoints{state="failing"}') === 1,
      { maxMillis: 30_000 },
    );
    expect(firingAlerts({ after: endpoints })).toEqual([
      'PetstoreWebhookDisabled',
      'PetstoreWebhookFailing',
      'PetstoreWebhookHeld',
    ]);
    const lag = await only('petstore_webhook_lag_seconds');
    expect(firingAlerts({ after: lag })).toEqual([]);
    expect(firingAlerts({ after: new Map([...lag].map(([name]) => [name, 301])) })).toEqual(['PetstoreWebhookLag']);
  });

  test('PetstoreEventsBacklog fires while one process moves a backlog, of which the others know nothing', async () => {
    const other = await listenHere({ DATABASE_URL: cluster.url, BAN_AFTER: '0' });
    await runSql(
      cluster.url,
      `insert into event_outbox (at, type)
        select now() - interval '10 minutes', 'store.resync' from generate_series(1, 200000)`,
    );
    const lags = (): Promise<Scrape[]> =>
      Promise.all(
        [service, other].map(
          async (each) => new Map([...(await scrape(each))].filter(([name]) => name.startsWith('petstore_events_lag'))),
        ),
      );
    const isBacklog = (all: Scrape[]): boolean => {
      const values = all.map((each) => each.get('petstore_events_lag_seconds') ?? NaN);
      return Math.max(...values) > 300 && Math.min(...values) < 30;
    };
    const late = await awaitValue(lags, isBacklog);
    await other.close();
    expect(firingAlerts(...late.map((after) => ({ after })))).toEqual(['PetstoreEventsBacklog']);
  });

  test('the guide has each rule of the file, and each has fired', () => {
    const inFile = deployFile('alerts.yml', []).match(/(?<=- alert: )\w+/g);
    expect(new Set(guideTable('Metrics and alerts').map(([name]) => name?.replaceAll('`', '')))).toEqual(
      new Set(inFile),
    );
    expect(fired).toEqual(new Set(inFile));
  });
});

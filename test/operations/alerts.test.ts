import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { RedisServer } from '../redis/redis-server.ts';
import { connect } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { awaitValue } from '../support/until.ts';
import { deployFile } from './guide.ts';

const directory = temporaryDirectory();
const rules = join(directory, 'alerts.yml');
const alertNames = ['Down', 'ServerErrors', 'DatabaseWaiting', 'QuotaNotShared', 'Refusals', 'EventsLag', 'Clock'];

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

/** Values by series, as `/metrics` writes them: `petstore_requests_total{operation="getPet",status="200"}`. */
type Scrape = ReadonlyMap<string, number>;

let cluster: PostgresCluster;
let redis: RedisServer;
let service: Service;

beforeAll(async () => {
  writeFileSync(rules, deployFile('alerts.yml', []));
  [cluster, redis] = await Promise.all([PostgresCluster.create(), RedisServer.start()]);
  const settings = { DATABASE_URL: cluster.url, REDIS_URL: redis.url, DATABASE_POOL: '2', BAN_AFTER: '0' };
  service = await Service.start(settings);
});

afterAll(() => cluster.remove());

async function scrape(): Promise<Scrape> {
  const response = await fetch(`${service.address}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** The alerts that fire after half an hour in which each minute is like the time between the two scrapes. */
function firingAlerts(before: Scrape, after: Scrape, up = 1): string[] {
  const series = [...after].map(([name, value]) => {
    const growth = /_(?:total|count|sum|bucket)(?:\{|$)/.test(name) ? value - (before.get(name) ?? 0) : 0;
    const labelled = name.endsWith('}') ? name.replace(/\}$/, ',job="petstore"}') : `${name}{job="petstore"}`;
    return { series: labelled, values: `${value}+${growth}x30` };
  });
  const names = alertNames.map((name) => `Petstore${name}`);
  const unitTest = (expected: readonly string[]): object => ({
    rule_files: [rules],
    tests: [
      {
        interval: '1m',
        input_series: [{ series: 'up{job="petstore"}', values: `${up}x30` }, ...series],
        promql_expr_test: [
          {
            eval_time: '30m',
            expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
            exp_samples: expected.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
          },
        ],
      },
    ],
  });
  return names.filter((name) => passes(unitTest([name]))).concat(passes(unitTest([])) ? ['none'] : []);
}

/** YAML is a superset of JSON. */
function passes(unitTest: object): boolean {
  const file = join(directory, 'test.yml');
  writeFileSync(file, JSON.stringify(unitTest));
  try {
    execFileSync('promtool', ['test', 'rules', file], { stdio: 'pipe' });
    return true;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
    const output = `${stdout.toString()}${stderr.toString()}`;
    if (!output.includes('got:')) throw new Error(output, { cause: error });
    return false;
  }
}

describe('the alerts of the guide, on the metrics of a real process', () => {
  test('the rules are valid, and every metric in them exists', async () => {
    await service.graphql('{ pets(first: 1) { totalCount } }');
    execFileSync('promtool', ['check', 'rules', rules]);
    const present = [...(await scrape()).keys()].map((name) => name.replace(/\{.*/, ''));
    const used = new Set(deployFile('alerts.yml', []).match(/petstore_\w+/g));
    // It appears with the first error of GraphQL.
    used.delete('petstore_graphql_errors_total');
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
    const exposed = (await (await fetch(`${service.address}/metrics`)).text()).match(/(?<=^# TYPE )\w+/gm) ?? [];
    const names = queries.join(' ').match(/\b(?:petstore|nodejs|process)_\w+/g) ?? [];
    const shown = new Set(names.map((name) => name.replace(/_bucket$/, '')));
    expect(exposed).toEqual(expect.arrayContaining([...shown]));
    expect([...shown].filter((name) => name.startsWith('petstore_')).toSorted()).toEqual(
      exposed.filter((name) => name.startsWith('petstore_')).toSorted(),
    );
  });

  test('none fires while requests are served', async () => {
    const before = await scrape();
    for (let turn = 0; turn < 20; turn += 1)
      expect((await service.graphql('{ pets(first: 1) { totalCount } }')).status).toBe(200);
    expect(firingAlerts(before, await scrape())).toEqual(['none']);
  });

  test('PetstoreDown fires when a process is not reached', () => {
    expect(firingAlerts(new Map(), new Map(), 0)).toEqual(['PetstoreDown']);
  });

  test('PetstoreRefusals fires when requests keep going beyond a bound', async () => {
    const before = await scrape();
    const deep = `{ ${'pets { edges { node { category { '.repeat(5)} id ${'} } } }'.repeat(5)} }`;
    for (let turn = 0; turn < 30; turn += 1) expect((await service.graphql(deep)).status).toBe(400);
    expect(firingAlerts(before, await scrape())).toEqual(['PetstoreRefusals']);
  });

  test('PetstoreQuotaNotShared fires while Redis is gone', async () => {
    await redis.kill();
    await service.graphql('{ pets(first: 1) { totalCount } }');
    const now = await scrape();
    expect(firingAlerts(now, now)).toEqual(['PetstoreQuotaNotShared']);
    await redis.restart();
  });

  test("PetstoreClock fires while a process's clock differs from the database's", async () => {
    const name = 'petstore_clock_offset_seconds';
    const offset = (await scrape()).get(name) ?? NaN;
    expect(Math.abs(offset)).toBeLessThan(2);
    for (const [seconds, firing] of [
      [offset - 3, 'PetstoreClock'],
      [offset + 3, 'PetstoreClock'],
      [offset, 'none'],
    ] as const) {
      const now = new Map([[name, seconds]]);
      expect(firingAlerts(now, now)).toEqual([firing]);
    }
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
    expect(firingAlerts(late, late)).toEqual(['PetstoreEventsLag']);
    await blocking.end();
    const moved = await awaitValue(lag, (now) => !isLate(now));
    expect(firingAlerts(moved, moved)).toEqual(['none']);
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
    cluster.resume();
    expect(statuses).toContain(503);
    const quiet = new Map([...waiting].filter(([name]) => name.startsWith('petstore_database')));
    expect(firingAlerts(quiet, quiet)).toEqual(['PetstoreDatabaseWaiting']);
    const failures = new Map([...after].filter(([name]) => name.startsWith('petstore_requests')));
    expect(firingAlerts(before, failures)).toEqual(['PetstoreServerErrors']);
  });
});

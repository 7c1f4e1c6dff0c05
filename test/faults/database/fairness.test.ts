import { describe, expect, it } from '@jest/globals';

import { databaseAt } from '../../../src/settings/database-url.ts';
import { PgConnection } from '../../../src/platform/postgres/connection.ts';
import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { listenHere } from '../../support/test-app.ts';

/** Ten connections, of which four are pipelined: half of the others are a key's share. */
const share = 3;

const cluster = await startCluster();

const service = await listenHere({ DATABASE_URL: cluster.url, DATABASE_POOL: '10' });
/** Two clients past the service: a transaction sees the server's activity as it was at its first query. */
const [blocker, watcher] = await Promise.all([connect(cluster.url), connect(cluster.url)]);
const neighbour = await service.createKey();
const attackers = await Promise.all(Array.from({ length: 5 }, () => service.createKey()));

const slow = '{ pets(filter: { nameContains: "x" }) { totalCount } }';
const write = 'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }';

interface Outcome {
  readonly slowest: number;
  readonly statuses: readonly number[];
}

/**
 * Sends slow requests, whose statements never end because a lock is in their way; `meanwhile` runs until their
 * responses come.
 */
async function attack(keys: readonly string[], meanwhile: () => Promise<unknown>): Promise<Outcome> {
  await blocker.query('begin; lock table pets');
  const over = new AbortController();
  const requests = keys.map((secret) => service.graphql(slow, {}, secret));
  const responses = Promise.all(requests).finally(() => over.abort());
  let slowest = 0;
  while (!over.signal.aborted) {
    await meanwhile();
    const { rows } = await watcher.query(
      `select pid from pg_stat_activity where application_name = 'petstore-gateway' and state = 'active' and query like '%from pets %'`,
    );
    slowest = Math.max(slowest, rows.length);
  }
  await blocker.query('rollback');
  return { slowest, statuses: (await responses).map(({ status }) => status) };
}

const refused = (count: number): number[] => Array<number>(count).fill(503);

describe('slow statements', () => {
  it('of a key run one by one while others use the database, and those that wait get 503 in time', async () => {
    await service.graphql(write, {}, neighbour);
    const millis: number[] = [];
    const { slowest, statuses } = await attack(Array<string>(30).fill(attackers[0]!), async () => {
      const response = await service.graphql(write, {}, neighbour);
      expect(response.body).toMatchObject({ data: { createCategory: {} } });
      millis.push(response.millis);
    });
    expect({ slowest, statuses }).toEqual({ slowest: 1, statuses: refused(30) });
    // A waiting statement of the attacker takes two seconds. One write may have waited for something else.
    const [, secondLongest] = millis.toSorted((one, another) => another - one);
    expect(secondLongest).toBeLessThan(1_500);
  });

  it('of many keys leave connections to others', async () => {
    const { slowest, statuses } = await attack([...attackers, ...attackers], async () => {
      const response = await service.graphql(write, {}, neighbour);
      expect(response.body).toMatchObject({ data: { createCategory: {} } });
    });
    expect({ slowest, statuses }).toEqual({ slowest: share, statuses: refused(10) });
  });

  it('use no parallel workers, and have exact numbers and plain transactions, whatever is set for their role', async () => {
    const ofRole = '-c extra_float_digits=-15 -c default_transaction_isolation=serializable';
    const connection = await new PgConnection({
      config: databaseAt(`${cluster.url}?options=${encodeURIComponent(ofRole)}`).config,
      session: 'server',
      connectTimeoutMillis: 5_000,
      statementTimeoutMillis: 2_000,
    }).open(new AbortController().signal);
    const names = ['max_parallel_workers_per_gather', 'extra_float_digits', 'transaction_isolation'];
    const { rows } = await connection.query<{ setting: string }>(
      'select current_setting(name) as setting from unnest($1::text[]) as name',
      [names],
    );
    await connection.close();
    expect(rows.map(({ setting }) => setting)).toEqual(['0', '1', 'read committed']);
  });
});

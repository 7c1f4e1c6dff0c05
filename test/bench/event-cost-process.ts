import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { load } from './load.ts';
import { cpuMicrosOfAll, MeasuredProcess } from './measured-process.ts';
import { median } from './report.ts';

// What the log of events costs PostgreSQL: the processor time of all its processes for each request, with the triggers
// enabled and disabled alternately. With them it includes what moves the events into the log.
// node test/bench/event-cost-process.ts [SECONDS] [ROUNDS] [CONNECTIONS], after `npm run build`

const [seconds = 4, rounds = 5, connections = 32] = process.argv.slice(2).map(Number);
const measuredNames = ['G4', 'R3'];
const tables = ['categories', 'pets', 'orders', 'inventory'];
const adminKey = 'event-cost-admin-key-of-a-database-used-once';
const unlimited = 'plan: ENTERPRISE, requestsPerMinute: 1000000000, requestsPerDay: 1000000000';

const cluster = await PostgresCluster.create();
try {
  const store = await fillStore(cluster.url, undefined, join(import.meta.dirname, '../..'));
  const service = await MeasuredProcess.start([process.execPath, 'dist/src/main.js'], {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_URL: cluster.url,
    ADMIN_API_KEY: adminKey,
  });
  const created = await fetch(`${service.address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ query: `mutation { createApiKey(input: { name: "Cost", ${unlimited} }) { secret } }` }),
  });
  const { data } = (await created.json()) as { data: { createApiKey: { secret: string } } };
  const headers = { authorization: `Bearer ${data.createApiKey.secret}` };
  // One connection: a new one takes milliseconds.
  const client = await connect(cluster.url);
  let from = 1;

  /** The microseconds of PostgreSQL for each request, until its changes have been moved. */
  async function measure(workload: string, verb: 'enable' | 'disable'): Promise<number> {
    await client.query(tables.map((table) => `alter table ${table} ${verb} trigger user`).join('; '));
    const before = cpuMicrosOfAll(cluster.pid);
    const { requests } = await load({
      address: service.address,
      requests: 'service',
      workload,
      store,
      connections,
      headers,
      seconds,
      from,
    });
    from += requests + 1;
    while ((await client.query('select from event_outbox limit 1')).rowCount !== 0) await sleep(100);
    return (cpuMicrosOfAll(cluster.pid) - before) / requests;
  }

  try {
    for (const workload of measuredNames) {
      await measure(workload, 'enable');
      const [without, withTriggers]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        without.push(await measure(workload, 'disable'));
        withTriggers.push(await measure(workload, 'enable'));
      }
      const figures = [without, withTriggers].map(
        (each) => `${median(each).toFixed(0)} (${each.map((micros) => micros.toFixed(0)).join(' ')})`,
      );
      const more = (100 * (median(withTriggers) / median(without) - 1)).toFixed(1);
      process.stdout.write(`${workload}: ${figures.join(' without, with ')} µs, ${more} % more\n`);
    }
  } finally {
    await client.end();
    await service.stop();
  }
} finally {
  cluster.remove();
}

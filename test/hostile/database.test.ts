import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { connect } from '../support/postgres-client.ts';
import { Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { listFields, queryOf } from './generated/database-work.ts';
import { seconds, seed } from './generated/endure.ts';
import { fillStore } from './target.ts';

/**
 * The processor time that PostgreSQL may take for an operation of this complexity, in counts of a hundred thousand rows
 * by hand, as long as the machine takes for them: fifty counts of stock by quantity and status are fifty of them, of
 * 0.02 s each on a quiet machine and of 0.05 s on a busy one; nine searches of 100,000 names are thirty.
 */
const allowedCounts = (complexity: number): number => Math.min(100, 20 + complexity / 20);
const count = `select count(*) from inventory join pets on pets.id = pet_id where quantity >= 3 and status = 'sold';`;
/** So many of them take long enough to be measured in hundredths of a second. */
const measuredCounts = 5;
/** Less than twenty counts on any machine. */
const littleMillis = 200;
const maxComplexity = 5_000;
const maxAliases = 50;

/** What PostgreSQL does by itself would be taken for a part of whatever it does for a client meanwhile. */
const cluster = await startCluster((data) => appendFileSync(join(data, 'postgresql.conf'), 'autovacuum = off\n'));
const settings = { DATABASE_URL: cluster.url, LOG_LEVEL: 'silent', BAN_AFTER: '0' };
const service = await Service.start(settings);
await fillStore(settings, { categories: 1_000, pets: 100_000, description: '' });
await cluster.sql(`begin; set local session_replication_role = replica;
  insert into orders (pet_id, quantity, complete, ship_date)
    select n, 1, n % 2 = 0, timestamptz '2025-12-01Z' + n * interval '1 hour' from generate_series(1, 20000) n;
  update pets set status = (array['available', 'pending', 'sold'])[1 + id % 3];
  commit; analyze`);
const key = await service.createKey();
const { pid: postmaster } = cluster;
const client = await connect(cluster.url);
// As the service has it.
await client.query('set max_parallel_workers_per_gather = 0');

/** The processor time of the server and of its processes, those that have ended included. */
function serverMillis(): number {
  let hundredths = 0;
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    let fields: string[];
    try {
      fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    } catch {
      // It has ended.
      continue;
    }
    const isServer = Number(name) === postmaster;
    if (!isServer && Number(fields[1]) !== postmaster) continue;
    // Its own, and that of its children that have ended.
    for (const field of isServer ? [11, 12, 13, 14] : [11, 12]) hundredths += Number(fields[field]);
  }
  return hundredths * 10;
}

/** The processor time of one count, now. */
async function countMillis(): Promise<number> {
  const before = serverMillis();
  await client.query(count.repeat(measuredCounts));
  return (serverMillis() - before) / measuredCounts;
}

it(
  `what an operation takes of PostgreSQL is in proportion to its complexity, generated for ${seconds} seconds by HOSTILE_SEED=${seed}`,
  async () => {
    const rows: (readonly [counts: number, complexity: number, millis: number, what: string])[] = [];
    const deadline = performance.now() + seconds * 1_000;
    for (let round = 0; performance.now() < deadline; round += 1) {
      const [list] = fc.sample(listFields, { seed: seed + round, numRuns: 1 });
      const one = await service.graphql(queryOf(list!, 1, round), {}, key);
      const complexity = Number(one.headers.get('x-graphql-complexity'));
      const aliases = Math.min(list!.aliases, maxAliases, Math.floor(maxComplexity / complexity));
      // Beyond the limit of tokens it is sent with fewer.
      for (let times = aliases; times > 0; times = Math.floor(times / 2)) {
        const before = serverMillis();
        const { status, headers } = await service.graphql(queryOf(list!, times, round), {}, key);
        if (status === 400) continue;
        const millis = serverMillis() - before;
        const counts = millis < littleMillis ? 0 : Math.round(millis / (await countMillis()));
        rows.push([counts, Number(headers.get('x-graphql-complexity')), millis, `${status} ${times} × ${list!.text}`]);
        break;
      }
    }
    rows.sort(([one], [other]) => other - one);
    console.info(
      rows
        .slice(0, 20)
        .map((row) => row.join(' | ').slice(0, 200))
        .join('\n'),
    );
    expect(rows.filter(([counts, complexity]) => counts > allowedCounts(complexity))).toEqual([]);
  },
  (seconds + 240) * 1_000,
);

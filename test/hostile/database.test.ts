import { readdirSync, readFileSync } from 'node:fs';

import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { listFields, queryOf } from './generated/database-work.ts';
import { seconds, seed } from './generated/endure.ts';
import { fillStore } from './target.ts';

/**
 * The processor time that PostgreSQL may take for an operation of this complexity. On a busy machine nine searches of
 * 100,000 names took up to 1.3 s, and fifty counts of stock by the status of the pet 1 s, on one that was slow 2.7 s.
 */
const allowedMillis = (complexity: number): number => Math.min(4_000, 800 + 2 * complexity);
const maxComplexity = 5_000;
const maxAliases = 50;

const cluster = await startCluster();
const settings = { DATABASE_URL: cluster.url, LOG_LEVEL: 'silent', BAN_AFTER: '0' };
const service = await Service.start(settings);
await fillStore(settings, { categories: 1_000, pets: 100_000, description: '' });
await cluster.sql(`begin; set local session_replication_role = replica;
  insert into orders (pet_id, quantity, complete, ship_date)
    select n, 1, n % 2 = 0, timestamptz '2025-12-01Z' + n * interval '1 hour' from generate_series(1, 20000) n;
  update pets set status = (array['available', 'pending', 'sold'])[1 + id % 3];
  commit; analyze`);
const key = await service.createKey();
const postmaster = Number(readFileSync(`${cluster.dataDirectory}/postmaster.pid`, 'utf8').split('\n')[0]);

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

it(
  `what an operation takes of PostgreSQL is in proportion to its complexity, generated for ${seconds} seconds by HOSTILE_SEED=${seed}`,
  async () => {
    const rows: (readonly [number, number, string])[] = [];
    const deadline = performance.now() + seconds * 1_000;
    for (let round = 0; performance.now() < deadline; round += 1) {
      const [list] = fc.sample(listFields, { seed: seed + round, numRuns: 1 });
      const one = await service.graphql(queryOf(list!, 1, round), {}, key);
      const complexity = Number(one.headers.get('x-graphql-complexity'));
      const aliases = Math.min(list!.aliases, maxAliases, Math.floor(maxComplexity / complexity));
      // Beyond the limit of tokens it is sent with fewer.
      for (let count = aliases; count > 0; count = Math.floor(count / 2)) {
        const before = serverMillis();
        const { status, headers } = await service.graphql(queryOf(list!, count, round), {}, key);
        if (status === 400) continue;
        const counted = Number(headers.get('x-graphql-complexity'));
        rows.push([serverMillis() - before, counted, `${status} ${count} × ${list!.text}`]);
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
    expect(rows.filter(([millis, complexity]) => millis > allowedMillis(complexity))).toEqual([]);
  },
  (seconds + 240) * 1_000,
);

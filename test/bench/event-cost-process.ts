import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import type pg from 'pg';

import { connect } from '../support/postgres-client.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { load } from './load.ts';
import { cpuMicrosOfAll, type MeasuredProcess } from './measured-process.ts';
import { createKey, mainOf, root, startService } from './measured-service.ts';
import { median } from './report.ts';
import type { StoreSize } from './workloads.ts';

// What the log of events costs PostgreSQL: the processor time of all its processes for each request, with the triggers
// enabled and disabled alternately, and of another build on a server of its own. With triggers it includes what moves
// the events into the log.
// node test/bench/event-cost-process.ts [--connections 32] [--against ../the-previous-release], after `npm run build`

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    against: { type: 'string' },
  },
});
const [seconds, rounds, connections] = [options.seconds, options.rounds, options.connections].map(Number) as [
  number,
  number,
  number,
];
const measuredNames = ['G4', 'R3', 'G4I'];
const tables = ['categories', 'pets', 'orders', 'inventory'];

/** A build that serves a store on a server of its own. */
class Build {
  readonly cluster: PostgresCluster;
  readonly #service: MeasuredProcess;
  readonly #store: StoreSize;
  readonly #keys: readonly string[];
  /** One connection: a new one takes milliseconds. */
  readonly #client: pg.Client;
  #from = 1;

  static async start(folder: string): Promise<Build> {
    const cluster = await PostgresCluster.create();
    const store = await fillStore(cluster.url, undefined, folder);
    const service = await startService({ DATABASE_URL: cluster.url }, [process.execPath, mainOf(folder)]);
    const keys = [await createKey(service.address)];
    return new Build(cluster, service, store, keys, await connect(cluster.url));
  }

  private constructor(
    cluster: PostgresCluster,
    service: MeasuredProcess,
    store: StoreSize,
    keys: readonly string[],
    client: pg.Client,
  ) {
    this.cluster = cluster;
    this.#service = service;
    this.#store = store;
    this.#keys = keys;
    this.#client = client;
  }

  async switchTriggers(verb: 'enable' | 'disable'): Promise<void> {
    await this.#client.query(tables.map((table) => `alter table ${table} ${verb} trigger user`).join('; '));
  }

  /** The microseconds of PostgreSQL for each request, until its changes have been moved. */
  async measure(workload: string): Promise<number> {
    const before = cpuMicrosOfAll(this.cluster.pid);
    const { requests } = await load({
      addresses: [this.#service.address],
      requests: 'service',
      workload,
      store: this.#store,
      connections,
      keys: this.#keys,
      seconds,
      from: this.#from,
    });
    this.#from += requests + 1;
    while (await this.#hasUnmoved()) await sleep(100);
    return (cpuMicrosOfAll(this.cluster.pid) - before) / requests;
  }

  /** A build may have no log. */
  async #hasUnmoved(): Promise<boolean> {
    const { rows } = await this.#client.query<{ log: string | null }>(`select to_regclass('event_outbox') as log`);
    if (rows[0]!.log === null) return false;
    return (await this.#client.query('select from event_outbox limit 1')).rowCount !== 0;
  }

  async stop(): Promise<void> {
    await this.#client.end();
    await this.#service.stop();
    this.cluster.remove();
  }
}

const builds: Build[] = [];
try {
  for (const folder of [root, options.against ?? []].flat()) builds.push(await Build.start(folder));
  const [build, against] = builds as [Build, Build?];
  for (const workload of measuredNames) {
    for (const each of builds) await each.measure(workload);
    const [without, withTriggers, before]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round += 1) {
      await build.switchTriggers('disable');
      without.push(await build.measure(workload));
      await build.switchTriggers('enable');
      withTriggers.push(await build.measure(workload));
      if (against !== undefined) before.push(await against.measure(workload));
    }
    const figures = Object.entries({ without, 'with triggers': withTriggers, against: before })
      .filter(([, micros]) => micros.length > 0)
      .map(([name, each]) => {
        const more = (100 * (median(withTriggers) / median(each) - 1)).toFixed(1);
        const rest = name === 'with triggers' ? '' : `, ${more} % more with`;
        return `${name} ${median(each).toFixed(0)} (${each.map((micros) => micros.toFixed(0)).join(' ')}${rest})`;
      });
    process.stdout.write(`${workload}: ${figures.join('; ')} µs\n`);
  }
} finally {
  for (const build of builds) await build.stop();
}

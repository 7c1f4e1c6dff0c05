import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';
import type pg from 'pg';

import { mirrorStore } from '../clients/events/mirror.ts';
import { findFreePort } from '../support/free-port.ts';
import { connect } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

/** As many events at least; 100,000 is the long form, of some minutes. */
const leastEvents = Number(process.env['MIRROR_EVENTS'] ?? 400);
const writers = 8;
/** So that they are at work until processes have been killed, and leave the cores for what is tried. */
const pause = (): Promise<void> => wait(random(200));
const maxMillis = 60_000 + leastEvents * 20;

const cluster = await startCluster();
const services: Service[] = [];
const settings: Record<string, string>[] = [];

for (let count = 0; count < 2; count += 1) {
  const port = String(await findFreePort());
  settings.push({ DATABASE_URL: cluster.url, DATABASE_POOL: '5', LOG_LEVEL: 'silent', PORT: port });
  services.push(await Service.start(settings[count]!));
}

const random = (below: number): number => Math.floor(Math.random() * below);

/** What a transaction of SQL does to some rows. */
const statements: readonly (() => string)[] = [
  () => `update inventory set quantity = quantity + 1 where pet_id % 40 = ${random(40)}`,
  () =>
    `update pets set status = (array['available', 'pending', 'sold'])[1 + ${random(3)}] where id % 40 = ${random(40)}`,
  () => `update pets set name = 'n${random(1_000)}' where id % 40 = ${random(40)}`,
  () => `update categories set description = 'd${random(1_000)}' where id % 5 = ${random(5)}`,
  () => `with made as (insert into pets (name, category_id) select 'made', min(id) from categories returning id)
      insert into inventory (pet_id, quantity) select id, ${random(9)} from made`,
  () => `insert into orders (pet_id, quantity) select id, 1 from pets order by random() limit 3`,
  () => `delete from orders where id in (select id from orders order by random() limit 3)`,
  () => `delete from pets where id in (select id from pets where name = 'made' order by random() limit 2)
      and not exists (select from orders where pet_id = pets.id)`,
];

/** Transactions that are committed, rolled back, held open, or lost with their connection. */
async function writeBySql(isOver: () => boolean): Promise<void> {
  let client: pg.Client | undefined;
  while (!isOver()) {
    client ??= await connect(cluster.url);
    try {
      await client.query('begin');
      for (let count = 1 + random(4); count > 0; count -= 1)
        await client.query(statements[random(statements.length)]!());
      if (random(10) === 0) await wait(random(500));
      const end = random(20);
      if (end === 0) {
        client.connection.stream.destroy();
        client = undefined;
      } else await client.query(end < 3 ? 'rollback' : 'commit');
    } catch {
      // A deadlock, or a pet that got an order meanwhile.
      await client?.query('rollback');
    }
    await pause();
  }
  await client?.end();
}

/** Requests of both protocols, of which a killed process leaves some without a response. */
async function writeByRequests(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const service = services[random(2)]!;
    try {
      const { body } = await service.post('/categories', { name: 'requested' });
      const pet = await service.post('/pets', { name: 'requested', categoryId: body.id });
      await service.graphql('mutation ($id: ID!) { updatePet(input: { id: $id, status: SOLD }) { pet { id } } }', {
        id: String(pet.body.id),
      });
      await service.patch(`/inventory/${pet.body.id}`, { quantity: random(100) });
    } catch {
      // Its process was killed.
    }
    await pause();
  }
}

it(
  `a copy that follows ${leastEvents} events is equal to the store, whatever was killed, held open or lost meanwhile`,
  async () => {
    await cluster.sql(
      `insert into categories (name) select 'c' || n from generate_series(1, 20) as n;
    with made as (insert into pets (name, category_id) select 'p' || n, 1 + n % 20 from generate_series(1, 400) as n returning id)
      insert into inventory (pet_id, quantity) select id, 5 from made`,
    );
    const key = await services[0]!.createKey();
    const abort = new AbortController();
    let isOver = false;
    const isRunning = (): boolean => !isOver;
    const writing = Array.from({ length: writers }, (_, writer) =>
      (writer % 2 === 0 ? writeBySql : writeByRequests)(() => isOver),
    );
    let kills = 0;
    const killing = async (): Promise<void> => {
      while (isRunning()) {
        await wait(500 + random(1_500));
        const index = kills % 2;
        await services[index]!.kill();
        services[index] = await Service.start(settings[index]!);
        kills += 1;
      }
    };
    let killed: Promise<void> | undefined;
    const logged = async (): Promise<number> =>
      Number((await cluster.sql('select count(*) as events from events'))[0]?.['events']);
    const follow = async (): ReturnType<typeof mirrorStore> => {
      // While the writers are at work.
      const begun = await mirrorStore(services[0]!.address, key, abort.signal);
      killed = killing();
      await until(async () => kills >= 1 && (await logged()) >= leastEvents, { maxMillis, everyMillis: 1_000 });
      return begun;
    };
    const mirror = await follow().finally(() => {
      isOver = true;
    });
    await Promise.all([...writing, killed]);

    const expected = new Map<string, string>();
    const compare = async (): Promise<boolean> => {
      expected.clear();
      for (const list of ['/categories', '/pets', '/store/orders', '/inventory']) {
        for (let page: string | undefined = `${list}?limit=100`; page !== undefined;) {
          const { body, headers } = await services[0]!.get(page, { authorization: `Bearer ${key}` });
          for (const row of body) expected.set(`${list}/${row.id ?? row.petId}`, JSON.stringify(row));
          page = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
        }
      }
      return differing().length === 0;
    };
    /** Path, row of the copy and row of the store, where they differ. */
    const differing = (): (string | undefined)[][] => {
      const copy = new Map(mirror.rows());
      return [...new Set([...expected.keys(), ...copy.keys()])]
        .map((path) => [path, copy.get(path), expected.get(path)])
        .filter(([, copied, stored]) => copied !== stored);
    };
    await until(compare, { maxMillis, everyMillis: 1_000 }).catch(() => undefined);
    abort.abort();
    await mirror.done;
    console.info({
      applied: mirror.applied(),
      logged: await logged(),
      rows: expected.size,
      kills,
      differences: differing().length,
    });
    expect(differing()).toEqual([]);
  },
  2 * maxMillis + 120_000,
);

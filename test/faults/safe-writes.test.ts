import { expect, it } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { codesOf, Service } from '../support/service.ts';
import { until } from '../support/until.ts';

/** `SAFE_WRITES=1000` is the long form, also with one process, and three. */
const total = Number(process.env['SAFE_WRITES'] ?? 20);
const clients = 6;
const betweenKills = Math.max(8, Math.ceil(total / 12));
const stock = 10 * total;
/** With its kills an operation takes some 0.2 s on a busy machine. */
const maxMillis = 120_000 + 600 * total;

const cluster = await startCluster();

const retried: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'CONFLICT', 'ABORTED', 'PRECONDITION_FAILED']);

/**
 * Every third operation is a sale in one transaction; the others are an order and the name of a category, each for
 * itself.
 */
function operation(n: number, quantity: number, version: string): string {
  const order = `order: createOrder(input: { petId: 1, quantity: ${n + 1} }) { order { id } }`;
  return n % 3 === 0
    ? `mutation @atomic { ${order} stock: updateInventory(input: { petId: 1, quantity: ${quantity - 1}, ifVersion: "${version}" }) { inventoryItem { quantity } } }`
    : `mutation { ${order} category: createCategory(input: { name: "written ${n}" }) { category { id } } }`;
}

it.each(process.env['SAFE_WRITES'] ? [1, 3] : [2])(
  'each key has its effect exactly once, whatever is killed between two root fields: %i processes',
  async (processes) => {
    await cluster.sql('drop schema public cascade; create schema public');
    const settings = { DATABASE_URL: cluster.url, DATABASE_POOL: '4', LOG_LEVEL: 'silent' };
    const services = [await Service.start(settings)];
    while (services.length < processes) services.push(await Service.start(settings));
    const seed = `mutation { createCategory(input: { name: "Dogs" }) { category { id } } createPet(input: { name: "Rex", categoryId: 1 }) { pet { id } }
      updateInventory(input: { petId: 1, quantity: ${stock} }) { inventoryItem { quantity } } }`;
    expect((await services[0]!.graphql(seed)).body.errors).toBeUndefined();

    // The administrator's key has a plan, which the long form goes beyond.
    const secret = await services[0]!.createKey();

    let done = 0;
    let next = 0;
    let kills = 0;
    const sent = new Map<number, string>();
    const unexpected: string[] = [];
    /**
     * Sends the same operation with the same key until all of its fields have a payload. A refused sale is read
     * again: nothing of it is stored.
     */
    const carryOut = async (n: number): Promise<void> => {
      let tries = n;
      const isDone = async (): Promise<boolean> => {
        const service = services[(tries += 1) % processes]!;
        try {
          const { body: seen } = await service.graphql('{ inventoryItem(petId: 1) { quantity version } }', {}, secret);
          const { quantity, version } = seen.data.inventoryItem;
          const remembered = sent.get(n) ?? operation(n, quantity, version);
          sent.set(n, remembered);
          const { body } = await service.post(
            '/graphql',
            { query: remembered },
            { 'idempotency-key': `key ${n}`, authorization: `Bearer ${secret}` },
          );
          const codes = codesOf(body);
          if (codes.length === 0) return true;
          // Nothing of it was carried out, now or before: it may be another sale.
          if (codes.includes('PRECONDITION_FAILED')) sent.delete(n);
          unexpected.push(...codes.filter((code) => !retried.has(code)));
        } catch {
          // The process is gone, or is starting again: the next one is asked.
        }
        return false;
      };
      // Refused connections are many while a process starts, for which they leave the core.
      await until(isDone, { maxMillis: 60_000, everyMillis: 50 });
    };
    const kill = async (): Promise<void> => {
      kills += 1;
      if (kills % 3 === 2) {
        cluster.stop();
        cluster.start();
        return;
      }
      const index = kills % processes;
      await services[index]!.kill();
      services[index] = await Service.start(settings);
    };
    let killing = Promise.resolve();
    const work = async (): Promise<void> => {
      for (let n = next++; n < total; n = next++) {
        await carryOut(n);
        done += 1;
        if (done % betweenKills === 3 && done < total - 3) killing = killing.then(kill);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    await killing;

    const rows = await cluster.sql(`select (select count(*)::int from orders) as orders,
      (select count(distinct quantity)::int from orders) as different, (select quantity from inventory) as stock,
      (select count(*)::int from categories) as categories, (select count(distinct name)::int from categories) as names`);
    for (const service of services) await service.stop();
    const sales = Math.ceil(total / 3);
    const categories = total - sales + 1;
    expect(unexpected).toEqual([]);
    expect(kills).toBeGreaterThan(1);
    expect(rows).toEqual([{ orders: total, different: total, stock: stock - sales, categories, names: categories }]);
  },
  maxMillis,
);

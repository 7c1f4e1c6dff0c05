import { LockMode, MikroORM } from '@mikro-orm/postgresql';

import { createConnections } from '../../src/platform/postgres/connections.ts';
import { databaseAt } from '../../src/settings/database-url.ts';
import { connectDatabase } from '../../src/database/database.ts';
import { createDialect } from '../../src/database/kysely-dialect.ts';
import { migrate } from '../../src/database/start/migrate.ts';
import { entities } from '../../src/database/stores/stores.ts';
import { InventoryItem } from '../../src/domain/inventory/inventory-item.entity.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { newCategory } from '../support/new-category.ts';
import { testCaller } from '../support/caller.ts';

// What an update costs as a statement, and as an entity that is loaded, changed and flushed: `node
// test/bench/entity-update-process.ts`.

const updates = 500;
const atATime = 3;
const rounds = 2;

const cluster = await PostgresCluster.create();
try {
  await migrate({ location: cluster.url });
  const database = await connectDatabase({ location: cluster.url, poolSize: 10 });
  const { pool } = createConnections({ ...databaseAt(cluster.url), poolSize: 10 });
  const orm = new MikroORM({
    dbName: 'template1',
    entities: [...entities],
    ensureDatabase: false,
    preferReadReplicas: false,
    driverOptions: () => createDialect(pool, testCaller),
  });
  const { id: categoryId } = await database.stores.for(testCaller).categories.insert(newCategory('Any'));
  const { id } = await database.stores.for(testCaller).pets.insert({
    name: 'Any',
    status: 'available',
    categoryId,
    inventory: { quantity: 1 },
  });
  const ways = {
    'a statement': (quantity: number) => database.stores.for(testCaller).inventory.update(id, { quantity }),
    'a statement in a transaction': (quantity: number) =>
      database.stores.for(testCaller).transaction((stores) => stores.inventory.update(id, { quantity })),
    'an entity': (quantity: number) =>
      orm.em.fork().transactional(async (em) => {
        const item = await em.findOneOrFail(InventoryItem, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
        Object.assign(item, { quantity });
      }),
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, update] of Object.entries(ways)) {
      const before = process.cpuUsage();
      let left = updates;
      const updateAll = async (): Promise<void> => {
        while (left > 0) await update((left -= 1));
      };
      await Promise.all(Array.from({ length: atATime }, updateAll));
      const { user, system } = process.cpuUsage(before);
      process.stdout.write(`${way}: ${Math.round((user + system) / updates)} µs\n`);
    }
  }
  await Promise.all([database.close(), orm.close(true)]);
} finally {
  cluster.remove();
}

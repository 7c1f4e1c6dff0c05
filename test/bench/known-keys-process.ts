import { connectDatabase, type Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/start/migrate.ts';
import { generateKey, hashKey } from '../../src/domain/access/api-key.ts';
import type { Principal } from '../../src/domain/access/principal.ts';
import type { Id } from '../../src/domain/id.ts';
import { RequestRecorder } from '../../src/keys/request-recorder.ts';
import { Callers, requestMillis, Share } from '../../src/platform/callers/index.ts';
import { RemoteCounterStore } from '../../src/platform/quotas/remote-counter-store.ts';
import { startAccessProcess } from '../support/access-process.ts';
import { testCaller } from '../support/caller.ts';
import { collectGarbage, threadMillis } from '../support/measurement.ts';
import { PostgresCluster } from '../support/postgres-cluster.ts';
import { median } from './report.ts';

/*
 * What keys take that a process knows, by part, after one request of each; and the processor time of what it does each
 * second of its own accord, while ten keys send requests, when it knows these ten and when it knows all:
 *
 *   node test/bench/known-keys-process.ts [KEYS]
 */

const count = Number(process.argv[2] ?? 100_000);
const active = 10;
const seconds = 15;
const atATime = 1_000;

/** Keys of one installation; every fifth has figures of its own. */
const insertKeys = `
  insert into api_keys (name, prefix, sha256, plan, requests_per_minute, requests_per_day, scopes)
  select 'Customer ' || n, 'petstore_' || n, sha256, case when n % 5 = 0 then 'enterprise' else 'pro' end,
    case when n % 5 = 0 then 600 + n end, case when n % 5 = 0 then 50000 + n end, '{read,write}'
  from unnest($1::text[]) with ordinality as keys (sha256, n)`;

const cluster = await PostgresCluster.create();
try {
  await migrate({ location: cluster.url });
  const secrets = Array.from({ length: count }, generateKey);
  await cluster.sql(insertKeys, [secrets.map(hashKey)]);
  await measure(secrets);
} finally {
  cluster.remove();
}

type Step = (secret: string) => Promise<void>;

/** The parts of a process that know keys: what each does for a request, and what timers do in a second. */
async function openParts(database: Database) {
  const access = await startAccessProcess(database);
  const { keys, quota, counters } = access;
  const now = (): number => database.clock.now();
  const { requests } = database.stores.for(testCaller);
  const onFailure = (error: unknown): void => console.error(error);
  const recorder = new RequestRecorder({ requests, keepsEntries: true, now, onFailure });
  const callers = new Callers();
  const memory = new Share(callers.accounts, { ofClient: 2 ** 28, ofAll: 2 ** 28, refuse: () => new Error('refused') });
  const remote = new RemoteCounterStore(async () => ['admitted', false, now(), now(), 1, now(), 1, 0, 0], now);
  const principalOf = async (secret: string): Promise<Principal> => (await keys.find(secret))!;
  const steps: Record<string, Step> = {
    'key directory': async (secret) => void (await keys.find(secret)),
    quotas: async (secret) => void (await quota.consume(await principalOf(secret), 1)),
    'requests and use': async (secret) => {
      const { id: keyId } = (await principalOf(secret)) as Principal & { id: Id };
      const served = { keyId, status: 200, cost: 1, refusedBy: undefined, isWrite: false, deprecated: [] };
      const rest = { status: 200, cost: 1, durationMillis: 1, hasIdempotencyKey: false };
      recorder.record(served, () => ({ keyId, requestId: 'r', protocol: 'rest', operation: 'listPets', ...rest }));
    },
    "callers' accounts": async (secret) => {
      const caller = callers.for((await principalOf(secret)).id);
      const lease = memory.hold(caller, 16_384);
      caller.use(requestMillis);
      lease.release();
    },
  };
  return {
    steps,
    inWorker: async (secret: string) => void (await remote.decide(await principalOf(secret), { needs: 1, spends: 1 })),
    passSecond: async () => {
      for (let times = 0; times < 2; times += 1) {
        await keys.catchUp();
        await counters.saveUsage();
      }
      await recorder.flush();
    },
    close: () => access.close(),
  };
}

async function measure(secrets: readonly string[]): Promise<void> {
  const database = await connectDatabase({ location: cluster.url, poolSize: 10 });
  await database.readClock(testCaller);
  const { steps, inWorker, passSecond, close } = await openParts(database);
  const secondMillis = async (): Promise<number> => {
    const before = threadMillis();
    await passSecond();
    return threadMillis() - before;
  };
  const medianSecond = async (): Promise<string> => {
    const figures: number[] = [];
    while (figures.length < seconds) {
      for (const step of Object.values(steps)) await forEach(secrets.slice(0, active), step);
      figures.push(await secondMillis());
    }
    return median(figures).toFixed(1);
  };
  await medianSecond();
  console.log(`a second with ${active} keys, of ${active} known: ${await medianSecond()} ms`);
  const total = memoryNow();
  for (const [name, step] of Object.entries(steps)) {
    const before = memoryNow();
    await forEach(secrets, step);
    print(name, before, `, the next second ${(await secondMillis()).toFixed(0)} ms`);
  }
  print('all', total);
  const before = memoryNow();
  await forEach(secrets, inWorker);
  print('in a worker, beside its key directory', before);
  console.log(`a second with ${active} keys, of ${count} known: ${await medianSecond()} ms`);
  await close();
  await database.close();
}

async function forEach(some: readonly string[], step: Step): Promise<void> {
  for (let start = 0; start < some.length; start += atATime)
    await Promise.all(some.slice(start, start + atATime).map(step));
}

interface Memory {
  readonly heap: number;
  readonly resident: number;
}

function memoryNow(): Memory {
  collectGarbage();
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, resident: rss };
}

function print(name: string, before: Memory, more = ''): void {
  const { heap, resident } = memoryNow();
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  console.log(
    `${name}: heap ${megabytes(heap - before.heap)} MB, resident ${megabytes(resident - before.resident)} MB${more}`,
  );
}

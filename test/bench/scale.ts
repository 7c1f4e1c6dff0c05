import { existsSync } from 'node:fs';

import { withClient } from '../support/postgres-client.ts';
import { cpuMicrosOf } from './measured-process.ts';
import { createKey, root, startService } from './measured-service.ts';
import { databaseNamed, fillStore } from './filled-store.ts';
import { layOut, median } from './report.ts';

/** A request whose time may depend on how many pets the store has. */
interface ScaleRequest {
  readonly title: string;
  readonly query: (pets: number) => string;
}

const page = (list: string, args: string): string =>
  `{ ${list}(${args}) { nodes { ${idOf(list)} } pageInfo { hasNextPage } } }`;
const idOf = (list: string): string => (list === 'inventory' ? 'petId: id' : 'id');
const filter = (conditions: string): string => `filter: { ${conditions} }`;

/** The last week of orders, one of which is shipped each minute. */
function week(pets: number): string {
  const end = Date.UTC(2026, 0, 1) + (pets / 5) * 60_000;
  const [from, to] = [end - 7 * 24 * 3_600_000, end].map((at) => new Date(at).toISOString());
  return `shipDateFrom: "${from}", shipDateTo: "${to}"`;
}

/** Of one pet in twelve thousand. */
const rareName = (pets: number): string => `nameContains: "bella ${Math.floor(pets / 1_000) - 1}"`;

const requests: readonly ScaleRequest[] = [
  { title: 'a pet', query: (pets) => `{ pet(id: ${pets / 2}) { id name } }` },
  { title: 'pets, by name', query: () => page('pets', 'first: 20, orderBy: { field: NAME }') },
  {
    title: 'pets of a status and a category, by name',
    query: () => page('pets', `first: 20, orderBy: { field: NAME }, ${filter('statusIn: [SOLD], categoryIdIn: [7]')}`),
  },
  {
    title: 'pets of two statuses, backwards by name',
    query: () => page('pets', `last: 20, orderBy: { field: NAME }, ${filter('statusIn: [SOLD, PENDING]')}`),
  },
  {
    title: 'five categories with ten pets',
    query: () => '{ categories(first: 5) { nodes { pets(first: 10) { totalCount nodes { id } } } } }',
  },
  { title: 'a rare name, first: 1', query: (pets) => page('pets', `first: 1, ${filter(rareName(pets))}`) },
  { title: 'a rare name, first: 20', query: (pets) => page('pets', `first: 20, ${filter(rareName(pets))}`) },
  { title: 'a frequent name', query: () => page('pets', `first: 20, ${filter('nameContains: "bella"')}`) },
  {
    title: 'a frequent name at the end of the order',
    query: () => page('pets', `first: 20, orderBy: { field: NAME }, ${filter('nameContains: "rex"')}`),
  },
  {
    title: 'the same of a status',
    query: () =>
      page('pets', `first: 20, orderBy: { field: NAME }, ${filter('nameContains: "rex", statusIn: [SOLD]')}`),
  },
  { title: 'two letters that no name has', query: () => page('pets', `first: 20, ${filter('nameContains: "zz"')}`) },
  {
    title: 'the same, by name',
    query: () => page('pets', `first: 20, orderBy: { field: NAME }, ${filter('nameContains: "zz"')}`),
  },
  {
    title: 'frequent words in an order that no name has, by name',
    query: () => page('pets', `first: 20, orderBy: { field: NAME }, ${filter('nameContains: "9 bella"')}`),
  },
  { title: 'three letters that no name has', query: () => page('pets', `first: 20, ${filter('nameContains: "zzz"')}`) },
  {
    title: 'a name in each of 20 categories',
    query: () =>
      `{ categories(first: 20) { nodes { pets(first: 5, ${filter('nameContains: "zz"')}) { nodes { id } } } } }`,
  },
  { title: 'orders of a week, by id', query: (pets) => page('orders', `first: 20, ${filter(week(pets))}`) },
  {
    title: 'orders of a week, by date',
    query: (pets) => page('orders', `first: 20, orderBy: { field: SHIP_DATE }, ${filter(week(pets))}`),
  },
  {
    title: 'stock of a quantity, by id',
    query: () => page('inventory', `first: 20, ${filter('quantityAtLeast: 99')}`),
  },
  {
    title: 'stock of a status, by quantity',
    query: () => page('inventory', `first: 20, orderBy: { field: QUANTITY }, ${filter('statusIn: [SOLD]')}`),
  },
  {
    title: 'stock of a status and a quantity, by id',
    query: () => page('inventory', `first: 20, ${filter('statusIn: [SOLD], quantityAtLeast: 99')}`),
  },
  { title: 'count: a substring', query: () => `{ pets(${filter('nameContains: "bella"')}) { totalCount } }` },
  {
    title: 'count: stock of a quantity and a status',
    query: () => `{ inventory(${filter('statusIn: [SOLD], quantityAtLeast: 50')}) { totalCount } }`,
  },
];

const runs = 10;

interface Outcome {
  readonly millis: number;
  readonly slowest: number;
  /** The processor time of the database for each, where it is on this machine: however busy that is. */
  readonly cpuMillis: number;
  /** What came: a count, the number of rows with a + if there may be more, or the code of the error. */
  readonly what: string;
}

/** The response times of one client's requests in stores of these sizes, on the server, one request after another. */
export async function benchScale(sizes: readonly number[], databaseUrl: string): Promise<string> {
  const columns: Outcome[][] = [];
  for (const pets of sizes) {
    process.stderr.write(`${pets} pets\n`);
    const ownUrl = await databaseNamed(databaseUrl, `scale_${pets}`);
    await fillStore(ownUrl, pets, root, { categories: Math.ceil(pets / 250), orders: Math.ceil(pets / 5) });
    columns.push(await measure(ownUrl, pets));
  }
  const head = ['', ...sizes.flatMap((pets) => [`${pets} pets: ms`, 'slowest', 'CPU of PostgreSQL', 'what came'])];
  const rows = requests.map(({ title }, index) => [title, ...columns.flatMap((outcomes) => shown(outcomes[index]!))]);
  return layOut([head, ...rows]);
}

function shown({ millis, slowest, cpuMillis, what }: Outcome): string[] {
  return [...[millis, slowest, cpuMillis].map((figure) => figure.toFixed(1)), what];
}

async function measure(databaseUrl: string, pets: number): Promise<Outcome[]> {
  const service = await startService({ DATABASE_URL: databaseUrl });
  try {
    const key = await createKey(service.address);
    const outcomes: Outcome[] = [];
    for (const { query } of requests)
      outcomes.push(await ask({ address: service.address, key, databaseUrl }, query(pets)));
    return outcomes;
  } finally {
    await service.stop();
  }
}

interface Asked {
  readonly address: string;
  readonly key: string;
  readonly databaseUrl: string;
}

async function ask({ address, key, databaseUrl }: Asked, query: string): Promise<Outcome> {
  const times: number[] = [];
  let what = '';
  let before = 0;
  // The first one reads from the disk what the others find in memory.
  for (let run = 0; run <= runs; run += 1) {
    const started = performance.now();
    const response = await fetch(`${address}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    if (run > 0) times.push(performance.now() - started);
    else before = await cpuMicrosOfBackends(databaseUrl);
    what = whatCame(text);
  }
  const cpuMillis = ((await cpuMicrosOfBackends(databaseUrl)) - before) / runs / 1_000;
  return { millis: median(times), slowest: Math.max(...times), cpuMillis, what };
}

/** Of the service's connections, which stay open from one request to the next. */
function cpuMicrosOfBackends(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'petstore-gateway'`,
    );
    return rows.reduce((sum, { pid }) => sum + (existsSync(`/proc/${pid}/stat`) ? cpuMicrosOf(pid) : 0), 0);
  });
}

function whatCame(text: string): string {
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  if (code !== undefined) return code;
  const rows = text.match(/"(?:petId|id)":/g)?.length ?? 0;
  const count = rows === 0 ? /"totalCount":(\d+)/.exec(text)?.[1] : undefined;
  return count ?? `${rows}${text.includes('"hasNextPage":true') ? '+' : ''}`;
}

/*
 * What the log of events costs writers that use the database alone: pgbench with the statements that the service sends
 * for createPet (G4) and POST /pets (R3), each a transaction that waits for the disk:
 *
 *   npm run -s build && node test/bench/event-pgbench-process.ts [SECONDS] [ROUNDS]
 *
 * In turn: without triggers; with them while nothing moves; with them while events are moved five times a second; and
 * with `petstore.events = 'off'`, where each transaction is one resynchronization. Medians of the rounds: transactions
 * each second, their latency, and the processor time of all processes of PostgreSQL for each.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { connect } from '../support/postgres-client.ts';
import { PostgresCluster, programPath } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { cpuMicrosOfAll } from './measured-process.ts';
import { adminKey, root, startService } from './measured-service.ts';
import { median } from './report.ts';
import { partOf, workloads, type StoreSize } from './workloads.ts';

const [seconds = 4, rounds = 3] = process.argv.slice(2).map(Number);
const tables = ['categories', 'pets', 'orders', 'inventory'];
const moveEveryMillis = 200;

interface Variant {
  readonly title: string;
  readonly triggers: 'enable' | 'disable';
  readonly isMoving: boolean;
  readonly options: string;
}

const variants: readonly Variant[] = [
  { title: 'without triggers', triggers: 'disable', isMoving: false, options: '' },
  { title: 'with triggers', triggers: 'enable', isMoving: false, options: '' },
  { title: 'with triggers, moved', triggers: 'enable', isMoving: true, options: '' },
  { title: "petstore.events = 'off'", triggers: 'enable', isMoving: false, options: '-c petstore.events=off' },
];

interface Figures {
  readonly perSecond: number;
  readonly millis: number;
  readonly micros: number;
}

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'petstore-pgbench-'));
const cluster = await PostgresCluster.create();
const client = await connect(cluster.url);
try {
  const store = await fillStore(cluster.url, undefined, root);
  for (const workload of ['G4', 'R3']) {
    const script = join(directory, `${workload}.sql`);
    writeFileSync(script, scriptOf(await statementOf(workload, store), store));
    for (const clients of [1, 8, 32]) await compare(workload, script, clients);
  }
} finally {
  await client.end();
  cluster.remove();
  rmSync(directory, { recursive: true });
}

/** The statement that the service sends for one request of the workload. */
async function statementOf(workload: string, store: StoreSize): Promise<string> {
  const service = await startService({ DATABASE_URL: cluster.url });
  try {
    const { path, body } = workloads.find(({ name }) => name === workload)!.service(partOf(store, 1));
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const response = await fetch(service.address + path, { method: 'POST', headers, body: body! });
    if (!response.ok) throw new Error(await response.text());
    // What a connection of its pool has sent last.
    const { rows } = await client.query<{ query: string }>(
      `select query from pg_stat_activity where query like 'with pets as (insert into pets%'`,
    );
    if (rows.length !== 1) throw new Error(`Not one statement: ${JSON.stringify(rows)}`);
    return rows[0]!.query;
  } finally {
    await service.stop();
  }
}

/** Its parameters become values: those of a pet that is new each time. */
function scriptOf(statement: string, { categories }: StoreSize): string {
  const values: Readonly<Record<string, string>> = {
    name: ':name',
    category_id: ':category',
    status: `'available'`,
    quantity: '0',
  };
  let text = statement;
  for (const [, columns, expressions] of statement.matchAll(
    /insert into \w+ \(([^)]*)\) select ([^)]*?)(?: from|\s*returning)/g,
  )) {
    const names = columns!.split(', ');
    for (const [index, expression] of expressions!.split(', ').entries()) {
      const parameter = /^(\$\d+)::/.exec(expression)?.[1];
      if (parameter !== undefined)
        text = text.replaceAll(`${parameter}::`, `${values[names[index]!.replaceAll('"', '')]!}::`);
    }
  }
  if (/\$\d/.test(text)) throw new Error(`Not all parameters are known: ${text}`);
  return `\\set name random(1, 2000000000)\n\\set category random(1, ${categories})\n${text.replaceAll('\n', ' ')};\n`;
}

async function compare(workload: string, script: string, clients: number): Promise<void> {
  const measured = variants.map((): Figures[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, variant] of variants.entries()) measured[index]!.push(await measure(script, clients, variant));
  const middle = measured.map((each) => ({
    perSecond: median(each.map(({ perSecond }) => perSecond)),
    millis: median(each.map(({ millis }) => millis)),
    micros: median(each.map(({ micros }) => micros)),
  }));
  for (const [index, { perSecond, millis, micros }] of middle.entries()) {
    const [first] = middle as [Figures];
    const more = (value: number, than: number): string => `${(100 * (value / than - 1)).toFixed(0)} %`;
    const line = [
      workload.padEnd(3),
      `${clients} clients`.padEnd(11),
      variants[index]!.title.padEnd(24),
      `${perSecond.toFixed(0)}/s (${more(perSecond, first.perSecond)})`.padEnd(16),
      `${millis.toFixed(2)} ms (${more(millis, first.millis)})`.padEnd(16),
      `${micros.toFixed(0)} µs of processors (${more(micros, first.micros)})`,
    ];
    console.log(line.join(' '));
  }
}

async function measure(script: string, clients: number, variant: Variant): Promise<Figures> {
  await client.query(tables.map((table) => `alter table ${table} ${variant.triggers} trigger user`).join('; '));
  const before = cpuMicrosOfAll(cluster.pid);
  const over = new AbortController();
  const moving = variant.isMoving ? moveUntil(over.signal) : undefined;
  const options = ['--no-vacuum', '--protocol=prepared', '--random-seed=1', `--time=${seconds}`, `--file=${script}`];
  const connections = [`--client=${clients}`, `--jobs=${Math.min(clients, 2)}`, cluster.url];
  const env = { ...process.env, PGOPTIONS: variant.options };
  const { stdout } = await run(programPath('pgbench'), [...options, ...connections], { env });
  over.abort();
  await moving;
  const found = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1]);
  // Until the server has taken account of the processes that have ended.
  while ((await client.query(`select from pg_stat_activity where application_name = 'pgbench'`)).rowCount !== 0)
    await sleep(20);
  await sleep(100);
  const micros = (cpuMicrosOfAll(cluster.pid) - before) / found(/actually processed: (\d+)/);
  await client.query('truncate event_outbox');
  return { perSecond: found(/tps = ([\d.]+)/), millis: found(/latency average = ([\d.]+)/), micros };
}

/** As the service does, until nothing is left. */
async function moveUntil(signal: AbortSignal): Promise<void> {
  for (;;) {
    const isLast = signal.aborted;
    const { rows } = await client.query<{ moved: number }>(`select moved from petstore_move_events('pgbench', 4000)`);
    const isAll = rows[0]!.moved < 4_000;
    if (isLast && isAll) return;
    if (isAll && !signal.aborted) await sleep(moveEveryMillis, undefined, { signal }).catch(() => undefined);
  }
}

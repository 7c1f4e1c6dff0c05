/*
 * How many instructions a request takes outside of the kernel, of the service's main thread, counted by callgrind
 * (Debian's `valgrind`): two builds can be compared to some 3 % on a machine where times differ by half.
 *
 *   npm run -s build && node test/bench/instructions-process.ts [--only R1,G2] [--build FOLDER] [--warm 30000] [--count 3200]
 *
 * Requests come in waves of 32. The code runs some ten times slower, so what is done at intervals counts too much. The
 * collections of a window differ most: compare `steady`, which has none.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { Client } from 'undici';

import { PostgresCluster } from '../support/postgres-cluster.ts';
import { fillStore } from './filled-store.ts';
import { adminKey, createKey, mainOf, root } from './measured-service.ts';
import { partOf, workloads, type StoreSize, type Workload } from './workloads.ts';

const waveSize = 32;

/** Kinds of functions, by their names there. */
const kinds: readonly (readonly [string, RegExp])[] = [
  ['javascript', /^(?:0x|\?\?\?)/],
  ['builtins', /^Builtins_/],
  [
    'collections',
    /Scaveng|MarkCompact|Marking|Sweep|Evacuat|BodyDescriptor|SizeFromMap|Heap::|NewSpace|Worklist|memset/,
  ],
  ['compiling', /compiler::|maglev|turboshaft|baseline::|interpreter::|Scanner|Bytecode|Zone/],
  ['samples of the event loop', /^(?:hdr_|all_values)/],
];

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'G1,G2,G4,R1,R2,R3' },
    build: { type: 'string', default: root },
    warm: { type: 'string', default: '30000' },
    count: { type: 'string', default: '3200' },
  },
});
const [warm, count] = [Number(options.warm), Number(options.count)];
const names = options.only.toUpperCase().split(',');
let nextNumber = 1;

const cluster = await PostgresCluster.create();
const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
try {
  const store = await fillStore(cluster.url, 20_000, options.build);
  for (const workload of workloads.filter(({ name }) => names.includes(name))) {
    const file = join(directory, workload.name);
    await run(workload, store, file);
    // The first thread is the main one.
    console.log(workload.name, summary(instructionsByFunction(readFileSync(`${file}-01`, 'utf8'))));
  }
} finally {
  cluster.remove();
  rmSync(directory, { recursive: true });
}

/** A new process, which counts only after it has been warmed up. */
async function run(workload: Workload, store: StoreSize, file: string): Promise<void> {
  const callgrind = ['--tool=callgrind', '--instr-atstart=no', '--separate-threads=yes', '--smc-check=all-non-file'];
  const program = [process.execPath, mainOf(options.build)];
  const service = spawn('valgrind', [...callgrind, `--callgrind-out-file=${file}`, ...program], {
    env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: cluster.url, PORT: '0', ADMIN_API_KEY: adminKey },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let address: string | undefined;
  for await (const line of createInterface({ input: service.stdout })) {
    address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (address !== undefined) break;
  }
  if (address === undefined) throw new Error('The service has ended without an address. Is valgrind installed?');
  service.stdout.resume();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${await createKey(address)}` };
  const clients = Array.from({ length: waveSize }, () => new Client(address));
  const send = async (client: Client): Promise<void> => {
    const { method, path, body, headers: own } = workload.service(partOf(store, nextNumber++));
    const response = await client.request({ method, path, headers: { ...headers, ...own }, body: body ?? null });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${workload.name}: ${response.statusCode} ${text}`);
  };
  const sendAll = async (requests: number): Promise<void> => {
    for (let sent = 0; sent < requests; sent += waveSize) await Promise.all(clients.map(send));
  };
  const setCounting = (state: 'on' | 'off'): void => {
    execFileSync('callgrind_control', ['-i', state, String(service.pid)], { stdio: 'ignore' });
  };
  try {
    await sendAll(warm);
    setCounting('on');
    await sendAll(count);
    setCounting('off');
  } finally {
    await Promise.all(clients.map((client) => client.destroy()));
    service.kill('SIGTERM');
    await once(service, 'close');
  }
}

/** The instructions of each function itself, from callgrind's file. Compiled JavaScript has no names there. */
function instructionsByFunction(file: string): Map<string, number> {
  const functionNames = new Map<string, string>();
  const instructions = new Map<string, number>();
  let current = '';
  let isOfCall = false;
  for (const line of file.split('\n')) {
    const named = /^(c?)fn=(\(\d+\))(?: (.*))?/.exec(line);
    if (named !== null) {
      const [, called, id = '', name] = named;
      if (name !== undefined) functionNames.set(id, name);
      if (called === '') current = functionNames.get(id) ?? '';
    } else if (line.startsWith('calls=')) {
      isOfCall = true;
    } else if (/^[\d+*-]/.test(line)) {
      // What a called function has taken is counted there.
      if (!isOfCall) instructions.set(current, (instructions.get(current) ?? 0) + Number(line.split(' ')[1] ?? 0));
      isOfCall = false;
    }
  }
  return instructions;
}

/** Thousands of instructions for each request, by kind. */
function summary(instructions: ReadonlyMap<string, number>): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, each] of instructions) {
    const kind = kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? 'native';
    sums[kind] = (sums[kind] ?? 0) + each / count / 1000;
  }
  const { javascript = 0, builtins = 0, native = 0 } = sums;
  sums['steady'] = javascript + builtins + native;
  return Object.fromEntries(Object.entries(sums).map(([kind, each]) => [kind, Math.round(each)]));
}

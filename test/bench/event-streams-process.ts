/*
 * What 2,000 idle event streams take, how long an event takes to reach all of them, and one of them after its commit:
 *
 *   npm run -s build && node test/bench/event-streams-process.ts [streams]
 *
 * The service runs on an embedded store; half of the streams have one selection, half another. A neighbour sends R1
 * at a fixed rate meanwhile, from a process of its own: this one is busy with the streams.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { load } from './load.ts';
import type { LoadResult } from './load-process.ts';
import { adminKey, createKey, startService } from './measured-service.ts';
import { smallestStore } from './workloads.ts';

const count = Number(process.argv[2] ?? 2_000);
const streamsOfKey = 20;
const neighbourSeconds = 10;
const roundMillis = 400;
/** Commits at any moment, each followed to one of the streams. */
const commits = 100;
const selections = ['id type', 'id type at nodeId version object { nodeId ... on Category { name description } }'];

const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const service = await startService({ DATA_DIR: directory, DEMO: 'off', LOG_LEVEL: 'warn' });
try {
  const keys: string[] = [];
  for (let index = 0; index * streamsOfKey < count; index += 1) keys.push(await createKey(service.address, 'BUSINESS'));
  await neighbour();
  const before = service.residentMegabytes;
  const received = new Uint32Array(count);
  for (let index = 0; index < count; index += 1) await open(index, keys[Math.floor(index / streamsOfKey)]!, received);
  await sleep(20_000);
  const idle = service.residentMegabytes;
  const quiet = await neighbour();
  const reached: number[] = [];
  const measured = neighbour();
  const endsAt = performance.now() + neighbourSeconds * 1_000;
  for (let round = 1; performance.now() < endsAt; round += 1) {
    const startedAt = performance.now();
    await createCategory(`round ${round}`);
    while (!received.every((events) => events >= round)) {
      if (performance.now() - startedAt > 30_000) throw new Error('An event has not reached all streams in 30 s.');
      await sleep(5);
    }
    reached.push(performance.now() - startedAt);
    await sleep(Math.max(0, startedAt + roundMillis - performance.now()));
  }
  const busy = await measured;
  const toReader: number[] = [];
  for (let commit = 0; commit < commits; commit += 1) {
    await sleep(Math.random() * 300);
    const reader = commit % count;
    const events = received[reader];
    await createCategory(`commit ${commit}`);
    const committedAt = performance.now();
    while (received[reader] === events) await sleep(1);
    toReader.push(performance.now() - committedAt);
  }
  console.log({
    streams: count,
    idleMegabytes: Math.round(idle - before),
    megabytesAfterEvents: Math.round(service.residentMegabytes - before),
    millisToAll: { p50: quantile(reached, 0.5), worst: quantile(reached, 1) },
    millisFromCommitToReader: { p50: quantile(toReader, 0.5), p99: quantile(toReader, 0.99) },
    neighbourMillis: { quiet: rounded(quiet), busy: rounded(busy) },
  });
} finally {
  await service.stop();
  rmSync(directory, { recursive: true });
}
process.exit(0);

async function createCategory(name: string): Promise<void> {
  const response = await fetch(`${service.address}/categories`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Error(await response.text());
}

function rounded({ p50, p99 }: LoadResult): { readonly p50: number; readonly p99: number } {
  return { p50: Math.round(p50 * 10) / 10, p99: Math.round(p99 * 10) / 10 };
}

/** What a client of the plan without limits sees. */
function neighbour(): Promise<LoadResult> {
  return load({
    addresses: [service.address],
    requests: 'service',
    workload: 'R1',
    store: smallestStore,
    connections: 4,
    arrivalsPerSecond: 20,
    seconds: neighbourSeconds,
    from: 1,
    keys: [adminKey],
  });
}

/** Resolves when the stream has begun. Counts the events that it gets. */
function open(index: number, key: string, counts: Uint32Array): Promise<void> {
  const { hostname, port } = new URL(service.address);
  const body = JSON.stringify({ query: `subscription { events { ${selections[index % 2]} } }` });
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return new Promise((resolve, reject) => {
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (text.startsWith('HTTP/1.1 200')) resolve();
      else if (text.startsWith('HTTP/1.1')) reject(new Error(text));
      counts[index]! += text.split('event: next').length - 1;
    });
    socket.once('error', reject);
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]! * 10) / 10;
}

import { text } from 'node:stream/consumers';

import { Client } from 'undici';

import { partOf, workloads, type LoadRequest, type StoreSize } from './workloads.ts';

/** What the load generator is told, as JSON on its standard input. */
export interface LoadJob {
  readonly address: string;
  readonly target: 'service' | 'limit';
  readonly workload: string;
  readonly store: StoreSize;
  readonly connections: number;
  readonly seconds: number;
  /** The number that the first request varies by. */
  readonly from: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What it answers, as JSON on its standard output. Latencies are in milliseconds. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  /** The first answer that wasn't a success. */
  readonly failure: string | undefined;
}

const job = JSON.parse(await text(process.stdin)) as LoadJob;
const workload = workloads.find(({ name }) => name === job.workload)!;
const headers = { 'content-type': 'application/json', ...job.headers };
const latencies: number[] = [];
let next = job.from;
let failure: string | undefined;

// Built before the clock starts, so that the load generator spends as little as possible meanwhile.
const prepared = Array.from({ length: workload.isWrite ? 0 : 65_536 }, (_, index) => requestOf(job.from + index));

function requestOf(n: number): LoadRequest {
  return workload[job.target](partOf(job.store, n));
}

async function ask(client: Client, until: number): Promise<void> {
  while (performance.now() < until && failure === undefined) {
    const n = next++;
    const { method, path, body } = workload.isWrite ? requestOf(n) : prepared[(n - job.from) % prepared.length]!;
    const started = performance.now();
    const response = await client.request({ method, path, headers, body: body ?? null });
    const answer = await response.body.text();
    latencies.push(performance.now() - started);
    if (response.statusCode >= 300 || answer.includes('"errors"'))
      failure ??= `${response.statusCode} ${answer.slice(0, 500)}`;
  }
}

const started = performance.now();
const clients = Array.from({ length: job.connections }, () => new Client(job.address));
await Promise.all(clients.map((client) => ask(client, started + job.seconds * 1000)));
const seconds = (performance.now() - started) / 1000;
await Promise.all(clients.map((client) => client.close()));

latencies.sort((a, b) => a - b);
const quantile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
const result: LoadResult = { requests: latencies.length, seconds, p50: quantile(0.5), p99: quantile(0.99), failure };
process.stdout.write(JSON.stringify(result));

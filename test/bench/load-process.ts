import { text } from 'node:stream/consumers';

import { Client } from 'undici';

import { partOf, workloads, type LoadRequest, type StoreSize } from './workloads.ts';

/** What the load generator reads, as JSON, from its standard input. */
export interface LoadJob {
  /** The connections are divided among them. */
  readonly addresses: readonly string[];
  /** Whose form of the requests to send. */
  readonly requests: 'service' | 'limit';
  readonly workload: string;
  readonly store: StoreSize;
  readonly connections: number;
  readonly seconds: number;
  /**
   * Requests per second that arrive whether earlier ones are done or not; without it each connection sends its next one
   * at once.
   */
  readonly arrivalsPerSecond?: number | undefined;
  /** The number that the first request varies by. */
  readonly from: number;
  /** Each request has the next one; none for a server without keys. */
  readonly keys: readonly string[];
}

/** What it writes, as JSON, to its standard output. Latencies are in milliseconds. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  /** The first response that wasn't a success. */
  readonly failure: string | undefined;
}

const job = JSON.parse(await text(process.stdin)) as LoadJob;
const workload = workloads.find(({ name }) => name === job.workload)!;
const headers = { 'content-type': 'application/json' };
const headersByKey = job.keys.map((key) => ({ ...headers, authorization: `Bearer ${key}` }));
const latencies: number[] = [];
let next = job.from;
const failures: string[] = [];

// Built before the clock starts, so that the load generator spends as little as possible meanwhile.
const prebuilt = Array.from({ length: workload.isOneTime ? 0 : 65_536 }, (_, index) => requestOf(job.from + index));

function requestOf(n: number): LoadRequest {
  return workload[job.requests](partOf(job.store, n));
}

/** Sends the next request; its latency counts from when it arrived. */
async function send(client: Client, arrivedAt: number): Promise<void> {
  const n = next++;
  const {
    method,
    path,
    body,
    headers: own,
  } = workload.isOneTime ? requestOf(n) : prebuilt[(n - job.from) % prebuilt.length]!;
  const common = headersByKey[n % headersByKey.length] ?? headers;
  const response = await client.request({ method, path, headers: { ...common, ...own }, body: body ?? null });
  const responseBody = await response.body.text();
  latencies.push(performance.now() - arrivedAt);
  if (response.statusCode >= 300 || responseBody.includes('"errors"'))
    failures.push(`${response.statusCode} ${responseBody.slice(0, 500)}`);
}

/** A closed loop: as many requests are under way as there are connections. */
async function sendOneAfterAnother(client: Client, until: number): Promise<void> {
  while (performance.now() < until && failures.length === 0) await send(client, performance.now());
}

/** An open loop: requests arrive at a fixed rate, and wait where all connections are busy. */
async function sendAtRate(clients: readonly Client[], rate: number, from: number, until: number): Promise<void> {
  const idle = [...clients];
  const arrivals: number[] = [];
  const sending = new Set<Promise<void>>();
  const sendWaiting = (): void => {
    while (idle.length > 0 && arrivals.length > 0) {
      const client = idle.pop()!;
      const sent = send(client, arrivals.shift()!).finally(() => {
        sending.delete(sent);
        idle.push(client);
        sendWaiting();
      });
      sending.add(sent);
    }
  };
  for (let arrived = 0; performance.now() < until && failures.length === 0;) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = performance.now();
    for (; from + (arrived * 1000) / rate <= now; arrived += 1) arrivals.push(now);
    sendWaiting();
  }
  while (sending.size > 0) await Promise.race(sending);
}

const clients = Array.from({ length: job.connections }, (_, n) => new Client(job.addresses[n % job.addresses.length]!));
const started = performance.now();
const until = started + job.seconds * 1000;
await (job.arrivalsPerSecond === undefined
  ? Promise.all(clients.map((client) => sendOneAfterAnother(client, until)))
  : sendAtRate(clients, job.arrivalsPerSecond, started, until));
const seconds = (performance.now() - started) / 1000;
await Promise.all(clients.map((client) => client.close()));

latencies.sort((a, b) => a - b);
const quantile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
const result: LoadResult = {
  requests: latencies.length,
  seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  failure: failures[0],
};
process.stdout.write(JSON.stringify(result));

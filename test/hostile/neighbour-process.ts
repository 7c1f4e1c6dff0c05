import { readFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:http';

import { neighbourHeader, queryOfNothing } from './neighbour-header.ts';

/** What the neighbour has seen between `start` and `stop`. Latencies are in milliseconds. */
export interface NeighbourReport {
  readonly p50: number;
  readonly p99: number;
  /** The longest `/healthz`, from another address and on a new connection each time. */
  readonly health: number;
  /** The most that the main thread of the service has worked, for anybody, while one of these was on its way. */
  readonly probeMillis: number;
  /** Of all responses, by status; 0 is none. */
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Another client of the service, in a process of its own: 20 pages a second, whether earlier ones are done or not, each
 * beside a query that reads nothing, and with each tenth a probe of an orchestrator's kind.
 */
const everyMillis = 50;
const probeEvery = 10;
const maxMillis = 60_000;

const [address = '', key = '', pid = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const probeOptions = { agent: false, localAddress: '127.0.9.9' } as const;

let latencies: number[] = [];
let statuses: Record<string, number> = {};
let health = 0;
let probeMillis = 0;
let sending = new Set<Promise<void>>();
let ticking: NodeJS.Timeout | undefined;

/** Its processor time. */
function serviceMillis(): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
}

async function send(path: string, arrivedAt: number, options: RequestOptions): Promise<number> {
  const status = await new Promise<number>((resolve) => {
    const headers = { 'x-api-key': key, [neighbourHeader]: 'yes' };
    request(address + path, { ...options, headers, signal: AbortSignal.timeout(maxMillis) }, (response) => {
      response.resume().once('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    })
      .on('error', () => resolve(0))
      .end();
  });
  statuses[status] = (statuses[status] ?? 0) + 1;
  return performance.now() - arrivedAt;
}

async function probe(arrivedAt: number): Promise<void> {
  const before = serviceMillis();
  health = Math.max(health, await send('/healthz', arrivedAt, probeOptions));
  probeMillis = Math.max(probeMillis, serviceMillis() - before);
}

function start(): void {
  [latencies, statuses, health, probeMillis, sending] = [[], {}, 0, 0, new Set()];
  const startedAt = performance.now();
  let arrived = 0;
  const sendDue = (): void => {
    for (; arrived * everyMillis <= performance.now() - startedAt; arrived += 1) {
      const arrivedAt = startedAt + arrived * everyMillis;
      const isProbe = arrived % probeEvery === 0;
      const sent = Promise.all([
        send('/pets?limit=5', arrivedAt, { agent }).then((millis) => void latencies.push(millis)),
        send(queryOfNothing, arrivedAt, { agent }),
        isProbe ? probe(arrivedAt) : undefined,
      ]).then(() => void sending.delete(sent));
      sending.add(sent);
    }
  };
  // However short the attack is, there is one.
  sendDue();
  ticking = setInterval(sendDue, 5);
}

async function stop(): Promise<void> {
  clearInterval(ticking);
  await Promise.all(sending);
  latencies.sort((a, b) => a - b);
  const at = (part: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))]!;
  const report: NeighbourReport = { p50: at(0.5), p99: at(0.99), health, probeMillis, statuses };
  process.send!(report);
}

process.on('message', (message) => {
  if (message === 'start') start();
  else void stop();
});
process.on('disconnect', () => process.exit());

import { Agent, request } from 'node:http';

import { neighbourHeader } from './neighbour-header.ts';

/** What the neighbour has seen between `start` and `stop`. Latencies are in milliseconds. */
export interface NeighbourReport {
  readonly p50: number;
  readonly p99: number;
  /** The longest `/healthz`. */
  readonly health: number;
  /** Of all responses, by status; 0 is none. */
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Another client of the service, in a process of its own: 20 pages a second, whether earlier ones are done or not, and
 * a probe with each tenth.
 */
const everyMillis = 50;
const probeEvery = 10;
const maxMillis = 60_000;

const [address = '', key = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

let latencies: number[] = [];
let statuses: Record<string, number> = {};
let health = 0;
let sending = new Set<Promise<void>>();
let ticking: NodeJS.Timeout | undefined;

async function send(path: string, arrivedAt: number): Promise<number> {
  const status = await new Promise<number>((resolve) => {
    const headers = { 'x-api-key': key, [neighbourHeader]: 'yes' };
    request(address + path, { agent, headers, signal: AbortSignal.timeout(maxMillis) }, (response) => {
      response.resume().once('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    })
      .on('error', () => resolve(0))
      .end();
  });
  statuses[status] = (statuses[status] ?? 0) + 1;
  return performance.now() - arrivedAt;
}

function start(): void {
  [latencies, statuses, health, sending] = [[], {}, 0, new Set()];
  const startedAt = performance.now();
  let arrived = 0;
  const sendDue = (): void => {
    for (; arrived * everyMillis <= performance.now() - startedAt; arrived += 1) {
      const arrivedAt = startedAt + arrived * everyMillis;
      const isProbe = arrived % probeEvery === 0;
      const sent = Promise.all([
        send('/pets?limit=5', arrivedAt).then((millis) => void latencies.push(millis)),
        isProbe ? send('/healthz', arrivedAt).then((millis) => (health = Math.max(health, millis))) : undefined,
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
  const report: NeighbourReport = { p50: at(0.5), p99: at(0.99), health, statuses };
  process.send!(report);
}

process.on('message', (message) => {
  if (message === 'start') start();
  else void stop();
});
process.on('disconnect', () => process.exit());

import { isDeepStrictEqual } from 'node:util';

import { load } from './load.ts';
import { cores, type MeasuredProcess } from './measured-process.ts';
import { median, targets, throughput, type Measured, type Measurement, type Target } from './report.ts';
import { partOf, type LoadRequest, type StoreSize, type Workload } from './workloads.ts';

/** A server under load; `against` is another build of the service. */
export interface Server {
  readonly process: MeasuredProcess;
  /** The first one sends what isn't of many keys; none for a server without keys. */
  readonly keys: readonly string[];
}

export interface Servers {
  readonly service: Server;
  readonly against?: Server | undefined;
  readonly limit: Server;
}

/** Microseconds of processor time that the database has taken so far; undefined where it can't be seen. */
export type DatabaseTime = (() => number) | undefined;

export interface RoundOptions {
  readonly chosen: readonly Workload[];
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
}

/** Each target comes first once: in a fixed order, equal builds differed by 5 % in processor time. */
export function rotated<Each>(list: readonly Each[], round: number): readonly Each[] {
  const first = round % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}

/** Nothing measured yet. */
export function emptyResults(chosen: readonly Workload[]): Measured[] {
  return chosen.map((workload) => ({ workload, closed: forEachTarget(), atRate: forEachTarget(), rate: 0 }));
}

/** Sends the load to one process of each target and measures what it takes. */
export class Rounds {
  readonly #servers: Servers;
  readonly #targets: readonly Target[];
  readonly #store: StoreSize;
  readonly #databaseTime: DatabaseTime;
  #nextNumber = 1;

  constructor(servers: Servers, store: StoreSize, databaseTime: DatabaseTime) {
    this.#servers = servers;
    this.#targets = targets.filter((target) => servers[target] !== undefined);
    this.#store = store;
    this.#databaseTime = databaseTime;
  }

  /** Rounds of all workloads on all targets one after another, in a closed loop. */
  async measure(results: readonly Measured[], options: RoundOptions): Promise<void> {
    const earlierRounds = (results[0]?.closed.limit.length ?? 0) * options.rounds;
    // Only before the first load: updates of another process may have left other quantities in each database.
    if (earlierRounds === 0) for (const { workload } of results) await this.#expectSameData(workload);
    for (const { workload, closed } of results) {
      for (const target of this.#targets) {
        await this.#warmUp(target, workload, options);
        closed[target].push([]);
      }
    }
    for (let round = 1; round <= options.rounds; round += 1) {
      for (const { workload, closed } of results) {
        for (const target of rotated(this.#targets, earlierRounds + round)) {
          showProgress(`round ${round} of ${options.rounds}: ${workload.name} ${target}`);
          closed[target].at(-1)!.push(await this.#load(target, workload, options.seconds, options));
        }
      }
    }
    showProgress('');
  }

  /**
   * All workloads under the same fixed arrival rate for all targets: half of what the service has taken in the closed
   * loop.
   */
  async measureAtRate(results: readonly Measured[], options: RoundOptions): Promise<void> {
    for (const result of results) {
      result.rate = Math.max(1, Math.round(median(result.closed.service.flat().map(throughput)) / 2));
      for (const target of this.#targets) {
        showProgress(`${result.rate} requests/s: ${result.workload.name} ${target}`);
        const measurement = await this.#load(target, result.workload, 2 * options.seconds, options, result.rate);
        result.atRate[target].push(measurement);
      }
    }
    showProgress('');
  }

  /** The chosen reads one after another, until the service has responded to so many requests. */
  async keepReading(options: RoundOptions, requests: number): Promise<void> {
    const reads = options.chosen.filter(({ isWrite }) => !isWrite);
    let left = requests;
    for (let round = 0; left > 0; round += 1) {
      showProgress(`${left} requests to go`);
      left -= (await this.#load('service', reads[round % reads.length]!, 5, options)).requests;
    }
    showProgress('');
  }

  async #warmUp(target: Target, workload: Workload, options: RoundOptions): Promise<void> {
    showProgress(`warming up: ${workload.name} ${target}`);
    await this.#load(target, workload, Math.min(warmUpSeconds[target], 4 * options.seconds), options);
  }

  async #load(
    target: Target,
    workload: Workload,
    seconds: number,
    { connections }: RoundOptions,
    arrivalsPerSecond?: number,
  ): Promise<Measurement> {
    const { process: server, keys } = this.#server(target);
    const before = { server: server.cpuMicros, database: this.#databaseTime?.() };
    const job = {
      requests: requestsTo(target),
      workload: workload.name,
      store: this.#store,
      connections,
      seconds,
      arrivalsPerSecond,
      addresses: [server.address],
      from: this.#nextNumber,
      keys: keysFor(workload, keys),
    };
    const result = await load(job, cores?.load);
    this.#nextNumber += result.requests + 1;
    const cpuMicros = (server.cpuMicros - before.server) / result.requests;
    const databaseMicros = ((this.#databaseTime?.() ?? Number.NaN) - (before.database ?? 0)) / result.requests;
    return { ...result, cpuMicros, databaseMicros };
  }

  /** All have to send the same data, or the comparison says nothing. */
  async #expectSameData(workload: Workload): Promise<void> {
    const part = partOf(this.#store, this.#nextNumber++);
    const [expected, ...others] = await Promise.all(
      this.#targets.map(async (target) => {
        const data = await this.#send(target, workload[requestsTo(target)](part));
        return { target, data: withoutNewId(workload, data) };
      }),
    );
    for (const other of others) {
      if (isDeepStrictEqual(expected!.data, other.data)) continue;
      const texts = [expected!, other].map(({ target, data }) => `${target} ${JSON.stringify(data)}`);
      throw new Error(`${workload.name} differs:\n${texts.join('\n')}`);
    }
  }

  async #send(target: Target, { method, path, body }: LoadRequest): Promise<unknown> {
    const {
      process: server,
      keys: [key],
    } = this.#server(target);
    const response = await fetch(server.address + path, {
      method,
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: body ?? null,
    });
    return response.json();
  }

  #server(target: Target): Server {
    return this.#servers[target]!;
  }
}

/**
 * V8 compiles the service for a workload in this time, which takes a multiple of the processor time; the limit has less
 * to compile.
 */
const warmUpSeconds = { service: 8, against: 8, limit: 2 };

/** Of a server's keys those that send the workload. */
export function keysFor({ isOfManyKeys }: Workload, keys: readonly string[]): readonly string[] {
  return isOfManyKeys ? keys : keys.slice(0, 1);
}

function forEachTarget(): Record<Target, never[]> {
  return { service: [], against: [], limit: [] };
}

function requestsTo(target: Target): 'service' | 'limit' {
  return target === 'limit' ? 'limit' : 'service';
}

/** What is created twice has two ids. */
function withoutNewId({ isWrite }: Workload, data: unknown): unknown {
  return JSON.parse(JSON.stringify(data, (key, value: unknown) => (isWrite === true && key === 'id' ? '' : value)));
}

export function showProgress(line: string): void {
  process.stderr.write(`\r${line.padEnd(50)}\r`);
}

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { ChildProcess } from 'node:child_process';

import { spawnChild } from '../support/child-process.ts';
import { locationOf, runSql } from '../support/postgres-client.ts';
import { program, Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import type { NeighbourReport } from './neighbour-process.ts';

interface Response {
  readonly status: number;
  readonly text: string;
}

/** What an attack on connections needs: the service itself, or a proxy before it. */
export interface Door {
  /** A key. */
  readonly attacker: string;
  /** Opens a connection and sends the text as it is. */
  send(text: string | Buffer): Promise<Socket>;
}

/** What one attack has done to the service. */
export interface Damage {
  /** What another client has seen meanwhile. */
  readonly neighbour: NeighbourReport;
  /** The longest tick of the event loop, in processor time. */
  readonly tickMillis: number;
  /** The p99 of what the main thread has worked, for anybody, while a query of the neighbour's for nothing was there. */
  readonly waitMillis: number;
  /** The same of its pages, which wait for the database, too. */
  readonly pageMillis: number;
  /** The processor time of the process. */
  readonly cpuMillis: number;
  /** How much longer its main thread was at work than it worked, because it waited for a core: 1 on a quiet machine. */
  readonly contention: number;
  /** The memory of the process before, and the most that it had. */
  readonly startMegabytes: number;
  readonly peakMegabytes: number;
  /** What is left in heap and buffers, beyond what there was before. */
  readonly leftMegabytes: number;
  /** Lines of the log at `warn` or above. */
  readonly complaints: readonly string[];
}

const settleMillis = 20_000;
/** Less is the size of caches and of the garbage collector's own ideas. */
const harmlessMegabytes = 48;
/** Of the process that attacks: what it computes should take no core from those that are measured. */
const attackerPriority = 5;
const neighbourProcess = `${import.meta.dirname}/neighbour-process.ts`;

/** The cores of the service, as `taskset` takes them. */
const pinning = process.env['HOSTILE_CORES'] ? `taskset --cpu-list ${process.env['HOSTILE_CORES']} ` : '';

/**
 * Adds categories with a description, and pets with their stock, evenly spread, past the log of events: nobody follows
 * it yet.
 */
export async function fillStore(
  settings: Readonly<Record<string, string>>,
  { categories, pets, description }: { categories: number; pets: number; description: string },
): Promise<void> {
  await runSql(
    locationOf(settings),
    `begin; set local session_replication_role = replica;
     insert into categories (id, name, description) overriding system value
       select n, 'Category ' || n, '${description}' from generate_series(1, ${categories}) n;
     insert into pets (id, name, category_id) overriding system value
       select n, 'Pet ' || n, 1 + n % ${categories} from generate_series(1, ${pets}) n;
     insert into inventory (pet_id, quantity) select id, 3 from pets;
     select setval(pg_get_serial_sequence('categories', 'id'), ${categories}), setval(pg_get_serial_sequence('pets', 'id'), ${pets});
     analyze; commit`,
  );
}

/** The built service, a key that attacks it, and a neighbour with another one. */
export class Target implements Door {
  readonly service: Service;
  attacker = '';
  #neighbour: ChildProcess | undefined;

  /** `wrap` changes the command that starts it. */
  static async start(
    environment: Readonly<Record<string, string>>,
    wrap = (command: string): string => command,
  ): Promise<Target> {
    const command = `${pinning}node --import ${import.meta.dirname}/watched-process.ts ${program}`;
    const target = new Target(await Service.start(environment, { command: wrap(command) }));
    target.attacker = await target.createKey('attacker');
    const key = await target.createKey('neighbour');
    const parameters = [neighbourProcess, target.service.address, key, String(target.service.pid)];
    target.#neighbour = spawnChild(process.execPath, parameters, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    setPriority(attackerPriority);
    return target;
  }

  private constructor(service: Service) {
    this.service = service;
  }

  /** Sends a GraphQL request of the attacker, the text of the body as it is. */
  graphql(body: string | object): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.request('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
  }

  async request(path: string, init: RequestInit = {}, key = this.attacker): Promise<Response> {
    const headers = { 'x-api-key': key, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(this.service.address + path, { ...init, headers });
    return { status: response.status, text: await response.text() };
  }

  async send(text: string | Buffer): Promise<Socket> {
    const socket = connect(this.service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect').catch(() => undefined);
    if (!socket.destroyed) socket.write(text);
    return socket;
  }

  /** A key that has no limit. */
  async createKey(name: string): Promise<string> {
    const input = { name, plan: 'ENTERPRISE', scopes: ['WRITE'], requestsPerMinute: 2e9, requestsPerDay: 2e9 };
    let secret: string | undefined;
    // An overloaded service may ask us to try again.
    await until(async () => {
      const { body } = await this.service.graphql(
        `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }`,
        { input },
      );
      secret = body.data?.createApiKey?.secret;
      return secret !== undefined;
    });
    return secret!;
  }

  /** Does the attack, and looks at the service meanwhile and afterwards. */
  async suffer(attack: () => Promise<void>): Promise<Damage> {
    await this.#finished();
    const before = await this.#megabytesInUse();
    const logged = this.service.output.length;
    this.#forgetPeak();
    const startMegabytes = this.#peakMegabytes();
    await this.#watched();
    const cpuBefore = this.#cpuMillis();
    const [workedBefore, waitedBefore] = this.#mainThread();
    this.#neighbour!.send('start');
    const reported = once(this.#neighbour!, 'message');
    await attack().finally(() => this.#neighbour!.send('stop'));
    const [neighbour] = (await reported) as [NeighbourReport];
    const cpuMillis = this.#cpuMillis() - cpuBefore;
    const [worked, waited] = this.#mainThread();
    const watched = await this.#watched();
    const peakMegabytes = this.#peakMegabytes();
    const left = await this.#settled(before);
    return {
      neighbour,
      ...watched,
      cpuMillis,
      contention: 1 + (waited - waitedBefore) / (worked - workedBefore),
      startMegabytes,
      peakMegabytes,
      leftMegabytes: Math.round(left - before),
      complaints: this.service.output
        .slice(logged)
        .split('\n')
        .filter((line) => /"level":(?:40|50|60)/.test(line)),
    };
  }

  /** Waits until the requests of earlier attacks have had their responses, and their lines are in the log. */
  async #finished(): Promise<void> {
    // That for the metrics is one.
    await until(async () => (await this.#metrics()).get('petstore_requests_under_way')! <= 1, { everyMillis: 50 });
    const mark = `/after-${performance.now()}`;
    await this.request(mark);
    await until(() => this.service.output.includes(mark), { everyMillis: 20 });
  }

  /** What `watched-process.ts` has seen since the last time. */
  async #watched(): Promise<Pick<Damage, 'tickMillis' | 'waitMillis' | 'pageMillis'>> {
    const printed = this.service.output.length;
    this.service.signal('SIGUSR2');
    let figures: RegExpExecArray | null = null;
    await until(() => {
      figures = /^longest tick, wait and page in ms: (\d+) (\d+) (\d+)$/m.exec(this.service.output.slice(printed));
      return figures !== null;
    });
    const [tickMillis, waitMillis, pageMillis] = [...figures!].slice(1).map(Number) as [number, number, number];
    return { tickMillis, waitMillis, pageMillis };
  }

  #peakMegabytes(): number {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.service.pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1024);
  }

  /** The kernel counts the peak anew. */
  #forgetPeak(): void {
    writeFileSync(`/proc/${this.service.pid}/clear_refs`, '5');
  }

  #cpuMillis(): number {
    // After the name of the program, which may hold anything, in brackets; in hundredths of a second.
    const fields = readFileSync(`/proc/${this.service.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** For how long it has worked, and has waited for a core. */
  #mainThread(): [worked: number, waited: number] {
    const { pid } = this.service;
    const [worked, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return [worked!, waited!];
  }

  /** What is in use, without what may be garbage for a while, as soon as it is near what it was. */
  async #settled(before: number): Promise<number> {
    const deadline = performance.now() + settleMillis;
    let megabytes = await this.#megabytesInUse();
    while (megabytes - before > harmlessMegabytes && performance.now() < deadline) {
      // Garbage is collected when there is work; that of bodies, outside V8's heap, when there are other bodies.
      await Promise.all(Array.from({ length: 20 }, async () => this.request('/pets?limit=100')));
      await Promise.all(Array.from({ length: 8 }, async () => this.graphql(' '.repeat(2 ** 20))));
      megabytes = await this.#megabytesInUse();
    }
    return megabytes;
  }

  async #megabytesInUse(): Promise<number> {
    const metrics = await this.#metrics();
    return (metrics.get('nodejs_heap_size_used_bytes')! + metrics.get('nodejs_external_memory_bytes')!) / 2 ** 20;
  }

  /** Those without labels. */
  async #metrics(): Promise<ReadonlyMap<string, number>> {
    const { text } = await this.request('/metrics');
    return new Map(Array.from(text.matchAll(/^(\w+) (\S+)$/gm), ([, name, value]) => [name!, Number(value)]));
  }
}

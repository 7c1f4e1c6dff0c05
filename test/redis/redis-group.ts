import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { spawnChild } from '../support/child-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { RedisServer, sendTo } from './redis-server.ts';
import { until } from '../support/until.ts';

/** Of the servers and of the sentinels that ask for one. */
const password = 'p@ss/word:1';

interface Sentinel {
  readonly port: number;
  readonly process: ChildProcess;
}

/** A master with its replicas, and three sentinels, of which the last asks for a password. */
export class RedisGroup {
  readonly #servers: readonly RedisServer[];
  readonly #sentinels: readonly Sentinel[];

  private constructor(servers: readonly RedisServer[], sentinels: readonly Sentinel[]) {
    this.#servers = servers;
    this.#sentinels = sentinels;
  }

  static async start({ replicas = 1 } = {}): Promise<RedisGroup> {
    const settings = ['--requirepass', password, '--masterauth', password, '--repl-diskless-sync-delay', '0'];
    const master = await RedisServer.start(...settings);
    const servers = [master];
    while (servers.length <= replicas)
      servers.push(await RedisServer.start(...settings, '--replicaof', '127.0.0.1', String(master.port)));
    const sentinels = [];
    for (const isOpen of [true, true, false]) sentinels.push(await startSentinel(master.port, isOpen));
    const group = new RedisGroup(servers, sentinels);
    await group.known();
    return group;
  }

  get url(): string {
    const hosts = this.#sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return `redis+sentinel://:${encodeURIComponent(password)}@${hosts.join(',')}/petstore`;
  }

  /** The URL that knows of one sentinel only. */
  urlOf(sentinel: 0 | 1 | 2): string {
    return this.url.replace(/@[^/]+/, `@127.0.0.1:${this.#sentinels[sentinel]?.port}`);
  }

  /** The server that takes writes, as the first sentinel says. */
  async master(): Promise<RedisServer> {
    const [, port] = (await this.#ask('GET-MASTER-ADDR-BY-NAME', 'petstore')) as string[];
    const server = this.#servers.find((each) => String(each.port) === port);
    if (server === undefined) throw new Error(`No server has the port ${port}.`);
    return server;
  }

  /** A planned fail-over: the master becomes a replica. */
  async failOver(): Promise<void> {
    await this.known();
    // On a busy machine the replica's last word may be too old for the sentinel.
    await until(() =>
      this.#ask('FAILOVER', 'petstore').then(
        () => true,
        (error: unknown) => {
          if (String(error).includes('NOGOODSLAVE')) return false;
          throw error;
        },
      ),
    );
  }

  pauseSentinel(index: 0 | 1 | 2): void {
    this.#sentinels[index]?.process.kill('SIGSTOP');
  }

  resumeSentinel(index: 0 | 1 | 2): void {
    this.#sentinels[index]?.process.kill('SIGCONT');
  }

  /** Resolves when the sentinels know of each other and of the replicas, and that these are in order. */
  async known(): Promise<void> {
    const isKnown = async (): Promise<boolean> => {
      const [sentinels, replicas] = (await Promise.all([
        this.#ask('SENTINELS', 'petstore'),
        this.#ask('REPLICAS', 'petstore'),
      ])) as string[][][];
      const inOrder = replicas?.filter((replica) => replica.includes('slave') && replica.includes('ok'));
      const isInOrder = inOrder?.length === this.#servers.length - 1;
      return sentinels?.length === this.#sentinels.length - 1 && isInOrder;
    };
    await until(isKnown, { maxMillis: 60_000, everyMillis: 20 });
  }

  #ask(...words: string[]): Promise<unknown> {
    return sendTo(`redis://127.0.0.1:${this.#sentinels[0]?.port}`, ['SENTINEL', ...words]);
  }
}

async function startSentinel(masterPort: number, isOpen: boolean): Promise<Sentinel> {
  const port = await findFreePort();
  const file = join(temporaryDirectory(), 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor petstore 127.0.0.1 ${masterPort} 2`,
    `sentinel auth-pass petstore ${password}`,
    'sentinel down-after-milliseconds petstore 1000',
    'sentinel failover-timeout petstore 3000',
    // Sentinels that ask for a password can't talk to each other without it.
    ...(isOpen ? [] : [`requirepass ${password}`]),
    `sentinel sentinel-pass ${password}`,
  ];
  writeFileSync(file, lines.join('\n'));
  const child = spawnChild('redis-sentinel', [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('redis-sentinel has ended.')));
  ended.catch(() => undefined);
  const output = createInterface({ input: child.stdout });
  const ready = new Promise<void>((resolve) => {
    output.on('line', (line) => line.includes('+monitor master') && resolve());
  });
  await Promise.race([ready, ended]);
  return { port, process: child };
}

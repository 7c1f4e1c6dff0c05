import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { createClient } from '@redis/client';

import { spawnChild } from '../support/child-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A Redis server of one suite, which can be killed, paused and started again; it keeps nothing on disk. */
export class RedisServer {
  readonly #directory = temporaryDirectory();
  readonly #settings: readonly string[];
  #port = 0;
  #process: ChildProcess | undefined;
  #exited: Promise<unknown> | undefined;

  /** With settings of the command line. */
  static async start(...settings: string[]): Promise<RedisServer> {
    const server = new RedisServer(settings);
    server.#port = await findFreePort();
    await server.restart();
    return server;
  }

  private constructor(settings: readonly string[]) {
    this.#settings = settings;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    const password = this.#settings[this.#settings.indexOf('--requirepass') + 1];
    const credentials = this.#settings.includes('--requirepass') ? `:${encodeURIComponent(password!)}@` : '';
    return `redis://${credentials}127.0.0.1:${this.#port}`;
  }

  /** On the same port, empty, with further settings. */
  async restart(...more: string[]): Promise<void> {
    const settings = ['--port', String(this.#port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#directory];
    const child = spawnChild('redis-server', [...settings, ...this.#settings, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process = child;
    this.#exited = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (!line.includes('Ready to accept connections')) continue;
      child.stdout.resume();
      return;
    }
    throw new Error(`redis-server has ended: ${lines.join('\n')}`);
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
    await this.#exited;
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** On a connection of its own. */
  async command(...words: string[]): Promise<unknown> {
    return sendTo(this.url, words);
  }
}

/** Sends one command, on a connection of its own. */
export async function sendTo(url: string, words: readonly string[]): Promise<unknown> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true });
  await client.connect();
  try {
    return await client.sendCommand([...words]);
  } finally {
    client.destroy();
  }
}

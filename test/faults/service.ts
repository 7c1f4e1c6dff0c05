import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { spawnChild } from '../support/child-process.ts';

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly body: any;
  readonly millis: number;
}

/** The key that every service here is started with. */
export const key = 'a-key-for-administrators-in-the-tests';

/** The folder whose built program runs, unless another is given. */
const repository = join(import.meta.dirname, '../..');

/** The service as it runs in production: a process of its own, from the built program. The variable SERVICE_NODE names another Node. */
export class Service {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #output: string[] = [];
  address = '';

  /** Resolves when the address has been printed, or the process has ended without. */
  static async start(environment: Readonly<Record<string, string>>, directory = repository): Promise<Service> {
    const service = new Service(environment, directory);
    await Promise.race([service.printed(/^The store is open at (\S+),/), service.#exited]);
    service.address = /^The store is open at (\S+),/m.exec(service.output)?.[1] ?? '';
    return service;
  }

  private constructor(environment: Readonly<Record<string, string>>, directory: string) {
    this.#child = spawnChild(process.env['SERVICE_NODE'] ?? process.execPath, [join(directory, 'dist/src/main.js')], {
      env: { NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'info', ADMIN_API_KEY: key, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'close');
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#output.push(line);
        this.#child.emit('line', line);
      });
    }
  }

  /** What it has printed so far, on both streams. */
  get output(): string {
    return this.#output.join('\n');
  }

  /** Resolves when a line has been printed that matches. */
  async printed(pattern: RegExp): Promise<void> {
    while (!this.#output.some((line) => pattern.test(line))) await once(this.#child, 'line');
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The exit code, or the signal that ended it. */
  async ended(): Promise<unknown> {
    const [code, signal] = await this.#exited;
    return code ?? signal;
  }

  async stop(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  get(path: string): Promise<ReceivedResponse> {
    return this.#ask(path, {});
  }

  graphql(query: string, variables: Record<string, unknown> = {}, secret = key): Promise<ReceivedResponse> {
    return this.#ask('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ query, variables }),
    });
  }

  async #ask(path: string, init: RequestInit): Promise<ReceivedResponse> {
    const started = performance.now();
    const response = await fetch(this.address + path, init);
    const body: unknown = await response.json();
    return { status: response.status, headers: response.headers, body, millis: performance.now() - started };
  }
}

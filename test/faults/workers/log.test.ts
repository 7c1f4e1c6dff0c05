import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

import { expect, it } from '@jest/globals';

import { spawnChild } from '../../support/child-process.ts';
import { compiled } from '../../support/running-command.ts';
import { adminKey, program, StoreClient } from '../../support/service.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { awaitValue } from '../../support/until.ts';

const cluster = await startCluster();

const settings: Readonly<Record<string, string>> = {
  DATABASE_URL: cluster.url,
  DATABASE_POOL: '4',
  ADMIN_API_KEY: adminKey,
  WORKERS: '2',
};
const maxMillis = 300_000;

/** Four times as long as promised, for a machine that does other things. */
const slack = 4;

interface Line {
  readonly path?: string;
}

/** The built service with two workers, whose log is read as fast as the test says. */
class LoggedWorkers extends StoreClient {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #chunks: Buffer[] = [];
  readonly #read: Promise<void>;
  /** At most so many bytes in a second; with 0 for ever none. */
  bytesPerSecond = Infinity;

  constructor(environment: Readonly<Record<string, string>> = {}) {
    super();
    this.#child = spawnChild(process.execPath, program.split(' '), {
      env: { ...compiled, NODE_ENV: 'production', PORT: '0', ...settings, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'exit');
    this.#read = this.#readLog(this.#child.stdout!);
  }

  static async start(environment: Readonly<Record<string, string>> = {}): Promise<LoggedWorkers> {
    const service = new LoggedWorkers(environment);
    for await (const line of createInterface({ input: service.#child.stderr! })) {
      [, service.address = ''] = /^The store is open at (\S+),/.exec(line) ?? [];
      if (service.address !== '') return service;
    }
    throw new Error('The service has ended without an address.');
  }

  async #readLog(stdout: Readable): Promise<void> {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      this.#chunks.push(chunk);
      if (this.bytesPerSecond === 0) await new Promise(() => undefined);
      if (this.bytesPerSecond !== Infinity) await wait((1_000 * chunk.length) / this.bytesPerSecond);
    }
  }

  /** The lines so far; of what follows the last line feed nothing. */
  get lines(): Line[] {
    const text = Buffer.concat(this.#chunks).toString();
    return text
      .slice(0, text.lastIndexOf('\n'))
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  }

  /** How many lines are dropped, once the metrics tell of so many requests: beyond a budget of time a text is older. */
  async droppedLines(requests: number): Promise<number> {
    const text = await awaitValue(
      () => this.metrics(),
      (each) => each.includes(`\npetstore_requests_total{operation="none",status="404"} ${requests}\n`),
      { maxMillis: 60_000, everyMillis: 500 },
    );
    return Number(/^petstore_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
  }

  /** Ends it by SIGTERM, whether its log is read or not; resolves with its exit code and signal. */
  end(): Promise<unknown> {
    this.#child.kill('SIGTERM');
    return this.#exited;
  }

  /** Ends it by SIGTERM; the log ends with a line feed. */
  async stop(): Promise<void> {
    expect(await this.end()).toEqual([0, null]);
    await this.#read;
    expect(Buffer.concat(this.#chunks).at(-1)).toBe(0x0a);
  }
}

/** Sends so many requests on one connection, some of them at a time, and waits for their responses. */
async function sendMany(address: string, request: string, count: number): Promise<void> {
  // The service reads 16 ahead.
  const atOnce = 10;
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  let rest = '';
  for (let sent = 0; sent < count; sent += atOnce) {
    socket.write(request.repeat(atOnce));
    for (let left = atOnce; left > 0;) {
      const responses = (rest + String((await once(socket, 'data'))[0])).split('HTTP/1.1 404');
      left -= responses.length - 1;
      rest = responses.at(-1)!.slice(-12);
    }
  }
  socket.destroy();
}

it(
  'each line is written whole or counted as dropped, however slowly the log is read',
  async () => {
    const service = await LoggedWorkers.start();
    service.bytesPerSecond = 50_000;
    const path = `/${'x'.repeat(190)}`;
    const request = `GET ${path} HTTP/1.1\r\nhost: petstore\r\nx-api-key: ${await service.createKey()}\r\n\r\n`;
    let sent = 0;
    // Each worker keeps 8 MiB.
    const dropped = await awaitValue(
      async () => {
        await Promise.all(Array.from({ length: 10 }, () => sendMany(service.address, request, 1_000)));
        sent += 10_000;
        return service.droppedLines(sent);
      },
      (lines) => lines > 10_000,
      { maxMillis, everyMillis: 0 },
    );
    service.bytesPerSecond = Infinity;
    const accounted = await awaitValue(
      async () => service.lines.filter((line) => line.path === path).length + dropped,
      (lines) => lines >= sent,
      { maxMillis: 60_000, everyMillis: 500 },
    );
    expect(accounted).toBe(sent);
    await service.stop();
  },
  maxMillis,
);

it(
  'a log that nobody reads any more keeps the service from ending no longer than DRAIN_TIMEOUT and a second',
  async () => {
    const service = await LoggedWorkers.start({ DRAIN_TIMEOUT: '2s' });
    service.bytesPerSecond = 0;
    const request = `GET /${'x'.repeat(190)} HTTP/1.1\r\nhost: petstore\r\nx-api-key: ${await service.createKey()}\r\n\r\n`;
    await Promise.all([1, 2, 3, 4].map(() => sendMany(service.address, request, 2_000)));
    const began = performance.now();
    expect(await service.end()).toEqual([0, null]);
    expect(performance.now() - began).toBeLessThan(slack * 3_000);
  },
  maxMillis,
);

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

import { childrenOf } from '../bench/measured-process.ts';
import { Service, type ServiceOptions } from './service.ts';
import { until } from './until.ts';

/** A worker takes seconds to start on a machine that does other things, and longer where a test slows its start. */
const startMillis = 300_000;

/** The built service with two workers, and their processes. Its LOG_LEVEL has to be `info`. */
export class ServiceOfWorkers extends Service {
  static override async start(
    environment: Readonly<Record<string, string>>,
    options?: ServiceOptions,
  ): Promise<ServiceOfWorkers> {
    const service = new ServiceOfWorkers({ WORKERS: '2', ...environment }, options);
    [, service.address = ''] = await service.line(/^The store is open at (\S+),/);
    await service.complete();
    return service;
  }

  /** Their process ids. */
  get workers(): readonly number[] {
    return childrenOf(this.pid);
  }

  /** Both workers run, and say in the log that they listen: a line of one that was killed may be lost. */
  complete(): Promise<void> {
    const listens = (pid: number): boolean =>
      isRunning(pid) && new RegExp(`"pid":${pid},.*"Server listening at`).test(this.output);
    return until(() => this.workers.filter(listens).length === 2, { maxMillis: startMillis, everyMillis: 100 });
  }

  /** Resolves when the primary knows that it has ended, and hands it nothing more: another one may already start. */
  async killWorker(pid: number): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await until(() => !this.workers.includes(pid));
  }
}

export interface AgentResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request on a connection of its own, which the primary hands to the next worker. */
export function askOnce(
  address: string,
  path: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<AgentResponse> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const sent = request(`${address}${path}`, { method, headers, agent: new Agent() }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends a GET on a connection of its own, and reads nothing of the response's body. */
export function openUnread(
  address: string,
  path: string,
  key: string,
): Promise<{ readonly status: number; close(): void }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${address}${path}`, { headers: { 'x-api-key': key }, agent: new Agent() }, (response) => {
      response.on('error', () => undefined);
      resolve({ status: response.statusCode ?? 0, close: () => sent.destroy() });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Whether a process is there. */
export function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

import { Service } from './service.ts';
import { until } from './until.ts';

/** The built service with several workers, and their processes. */
export class ServiceOfWorkers extends Service {
  static override async start(environment: Readonly<Record<string, string>>): Promise<ServiceOfWorkers> {
    const service = new ServiceOfWorkers({ WORKERS: '2', ...environment });
    [, service.address = ''] = await service.line(/^The store is open at (\S+),/);
    if (!('METRICS_PORT' in environment)) await service.complete();
    return service;
  }

  /** Their process ids. */
  get workers(): readonly number[] {
    const path = `/proc/${this.pid}/task/${this.pid}/children`;
    return readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  }

  /** So many workers listen. */
  complete(count = 2): Promise<void> {
    return until(
      async () => {
        const text = await this.metrics().catch(() => '');
        return text.includes(`\npetstore_workers ${count}\n`);
      },
      { maxMillis: 120_000, everyMillis: 50 },
    );
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

/** Whether a process is there. */
export function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

import { repository, RunningCommand } from './running-command.ts';

interface ReceivedResponse {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a response holds is each test's own to say
  readonly body: any;
  readonly millis: number;
}

/** The codes of the errors in the body of a GraphQL response. */
export function codesOf(body: ReceivedResponse['body']): string[] {
  const errors: readonly { readonly extensions: { readonly code: string } }[] = body.errors ?? [];
  return errors.map(({ extensions }) => extensions.code);
}

export interface ServiceOptions {
  readonly command?: string;
  readonly directory?: string;
}

/** The ADMIN_API_KEY that every service here is started with. */
export const adminKey = 'a-key-for-administrators-in-the-tests';

export const program = 'dist/src/main.js';

/** Requests to a service that listens; writes and GraphQL as the administrator. */
export class StoreClient {
  address = '';

  get port(): number {
    return Number(new URL(this.address).port);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> {
    return this.#ask(path, { headers });
  }

  /** Prometheus' text. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.address}/metrics`)).text();
  }

  graphql(query: string, variables: Record<string, unknown> = {}, key = adminKey): Promise<ReceivedResponse> {
    return this.post('/graphql', { query, variables }, { authorization: `Bearer ${key}` });
  }

  /** The secret of a new key with the scope `write` and no limit; or with another plan, as GraphQL has it. */
  async createKey(
    plan = 'plan: ENTERPRISE, requestsPerMinute: 2000000000, requestsPerDay: 2000000000',
  ): Promise<string> {
    const { body } = await this.graphql(`mutation { createApiKey(input: { name: "test", ${plan} }) { secret } }`);
    return body.data.createApiKey.secret as string;
  }

  post(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> {
    return this.#send('POST', path, body, headers);
  }

  patch(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<ReceivedResponse> {
    return this.#send('PATCH', path, body, headers);
  }

  #send(
    method: string,
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
  ): Promise<ReceivedResponse> {
    return this.#ask(path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${adminKey}`, ...headers },
      body: JSON.stringify(body),
    });
  }

  async #ask(path: string, init: RequestInit): Promise<ReceivedResponse> {
    const started = performance.now();
    const response = await fetch(this.address + path, init);
    const body: unknown = await response.json();
    return { status: response.status, headers: response.headers, body, millis: performance.now() - started };
  }
}

/** The service as it runs in production: a process of its own, from the built program. */
export class Service extends StoreClient {
  readonly #command: RunningCommand;

  /** Resolves when it listens, and fails when it ends before; `new Service` is for one that can't start. */
  static async start(environment: Readonly<Record<string, string>>, options?: ServiceOptions): Promise<Service> {
    const service = new Service(environment, options);
    [, service.address = ''] = await service.line(/^The store is open at (\S+),/);
    return service;
  }

  constructor(
    environment: Readonly<Record<string, string>>,
    { command = `node ${program}`, directory = repository }: ServiceOptions = {},
  ) {
    super();
    const settings = { NODE_ENV: 'production', PORT: '0', ADMIN_API_KEY: adminKey, ...environment };
    this.#command = new RunningCommand(command, settings, directory);
  }

  get pid(): number {
    return this.#command.pid;
  }

  get output(): string {
    return this.#command.output;
  }

  line(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#command.line(pattern);
  }

  signal(signal: NodeJS.Signals): void {
    this.#command.signal(signal);
  }

  ended(): Promise<unknown> {
    return this.#command.ended();
  }

  stop(): Promise<unknown> {
    return this.#command.stop();
  }

  kill(): Promise<void> {
    return this.#command.kill();
  }
}

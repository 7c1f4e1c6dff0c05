import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What may happen to a request. A `lost` response is cut off before its first byte, when the service has done its work,
 * a `cut` one in its middle; a `restart` ends the service under the request.
 */
export type Misbehaviour = keyof typeof refusals | 'passed' | 'reset' | 'silent' | 'lost' | 'cut' | 'restart';

export const retryAfterSeconds = 1;

/** The message of each refusal that is the service's own. */
export const words = 'Not now.';

const refusals = {
  badGateway: { status: 502 },
  gatewayTimeout: { status: 504 },
  throttled: { status: 429, code: 'RATE_LIMITED', retryAfter: retryAfterSeconds },
  spentDay: { status: 429, code: 'RATE_LIMITED', retryAfter: 40_000 },
  unavailable: { status: 503, code: 'SERVICE_UNAVAILABLE', retryAfter: retryAfterSeconds },
  unauthenticated: { status: 401, code: 'UNAUTHENTICATED' },
  /** Of a field, in GraphQL. */
  underWay: { status: 409, code: 'CONFLICT', retryAfter: retryAfterSeconds },
};

interface RefusalOptions {
  readonly status: number;
  readonly code?: string;
  readonly retryAfter?: number;
}

interface Exchange {
  readonly received: IncomingMessage;
  readonly response: ServerResponse;
}

/** Stands before the service. Each request with an API key meets the next of the misbehaviours; later ones are passed. */
export class MisbehavingProxy {
  readonly idempotencyKeys: unknown[] = [];
  readonly gapsMillis: number[] = [];
  /** The bodies of the refusals that were sent. */
  readonly refused = new Set<string>();
  readonly #server = createServer((received, response) => this.#serve({ received, response }));
  readonly #origin: string;
  readonly #restart: () => Promise<void>;
  #next: Misbehaviour[];
  #restarted: Promise<void> = Promise.resolve();
  #lastAt: number | undefined;

  private constructor(origin: string, next: readonly Misbehaviour[], restart: () => Promise<void>) {
    this.#origin = origin;
    this.#next = [...next];
    this.#restart = restart;
  }

  static async start(
    origin: string,
    next: readonly Misbehaviour[],
    restart = () => Promise.resolve(),
  ): Promise<MisbehavingProxy> {
    const proxy = new MisbehavingProxy(origin, next, restart);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The misbehaviours that no request has met yet. */
  get left(): readonly Misbehaviour[] {
    return this.#next;
  }

  /** From now on. */
  misbehave(next: readonly Misbehaviour[]): void {
    this.#next = [...next];
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#restarted;
  }

  #serve(exchange: Exchange): void {
    const { headers } = exchange.received;
    if (headers.authorization === undefined) return this.#pass(exchange, 'passed');
    const now = performance.now();
    if (this.#lastAt !== undefined) this.gapsMillis.push(now - this.#lastAt);
    this.#lastAt = now;
    this.idempotencyKeys.push(headers['idempotency-key']);
    const what = this.#next.shift() ?? 'passed';
    if (what === 'reset') return void exchange.response.destroy();
    if (what === 'silent') return undefined;
    return what in refusals ? this.#refuse(exchange, what as keyof typeof refusals) : this.#pass(exchange, what);
  }

  #refuse({ received, response }: Exchange, what: keyof typeof refusals): void {
    const { status, code, retryAfter }: RefusalOptions = refusals[what];
    const isField = what === 'underWay' && received.url === '/graphql';
    const [type, body] = bodyOf(received, status, code, retryAfter);
    this.refused.add(body);
    response
      .writeHead(isField ? 200 : status, {
        'Content-Type': type,
        ...(isField || retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
      })
      .end(body);
  }

  #pass({ received, response }: Exchange, what: Misbehaviour): void {
    const { method, url, headers } = received;
    const passed = request(new URL(url ?? '/', this.#origin), { method, headers, agent: false }, (answer) => {
      if (what === 'lost') return void response.destroy();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (what === 'cut') return void answer.once('data', (chunk: Buffer) => cutOff(response, chunk));
      answer.once('error', () => response.destroy());
      return void answer.pipe(response);
    });
    passed.on('error', () => {
      if (response.headersSent) response.destroy();
      else this.#refuse({ received, response }, 'badGateway');
    });
    response.once('close', () => passed.destroy());
    received.pipe(passed);
    if (what === 'restart') this.#restarted = this.#restart();
  }
}

/** As the service says it, or without a code as a proxy that knows nothing of the service. */
function bodyOf({ url }: IncomingMessage, status: number, code?: string, retryAfter?: number): [string, string] {
  if (code === undefined) return ['text/html', `<html><h1>${status}</h1></html>\n`];
  const error = { message: words, extensions: { code, status, retryAfter } };
  if (url === '/graphql') return ['application/graphql-response+json', JSON.stringify({ errors: [error] })];
  return ['application/json', JSON.stringify({ code: code.toLowerCase(), message: words, status })];
}

/** Headers and a part of the body. */
function cutOff(response: ServerResponse, chunk: Buffer): void {
  response.write(chunk.subarray(0, chunk.length / 2), () => response.destroy());
}

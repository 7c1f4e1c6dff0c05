import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { serviceUrl } from './service.ts';

/**
 * Stands before the service, and refuses what it receives in its first seconds as the service does while its database
 * is gone; after that, one request as it does while the same one is under way. Then it passes everything on.
 */
export class UnavailableProxy {
  readonly retryAfterSeconds = 1;
  readonly idempotencyKeys: unknown[] = [];
  readonly gapsMillis: number[] = [];
  readonly #server = createServer((received, response) => this.#serve(received, response));
  readonly #availableAt: number;
  #refused = 0;
  #wasUnderWay = false;
  #lastAt: number | undefined;

  private constructor(seconds: number) {
    this.#availableAt = performance.now() + seconds * 1000;
  }

  static async start({ seconds }: { seconds: number }): Promise<UnavailableProxy> {
    const proxy = new UnavailableProxy(seconds);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get refused(): number {
    return this.#refused;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve(received: IncomingMessage, response: ServerResponse): void {
    const now = performance.now();
    if (this.#lastAt !== undefined) this.gapsMillis.push(now - this.#lastAt);
    this.#lastAt = now;
    this.idempotencyKeys.push(received.headers['idempotency-key']);
    if (now < this.#availableAt) {
      this.#refused += 1;
      return this.#refuse(response, 503, 'SERVICE_UNAVAILABLE');
    }
    if (!this.#wasUnderWay) {
      this.#wasUnderWay = true;
      return this.#refuse(response, 200, 'CONFLICT');
    }
    const { method, url, headers } = received;
    const passed = request(new URL(url ?? '/', serviceUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    received.pipe(passed);
    return undefined;
  }

  #refuse(response: ServerResponse, status: number, code: string): void {
    const errors = [{ message: code, extensions: { code, status, retryAfter: this.retryAfterSeconds } }];
    response
      .writeHead(status, { 'content-type': 'application/graphql-response+json' })
      .end(JSON.stringify(status === 200 ? { data: { createOrder: null }, errors } : { errors }));
  }
}

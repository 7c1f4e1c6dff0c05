import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { serviceUrl } from './service.ts';

/**
 * A TCP proxy before the service that loses responses: of each three it cuts two off at a random byte, when the service
 * has done its work, and passes the third on whole. For clients that send one request at a time.
 */
export class LossyProxy {
  readonly #server = createServer((client) => this.#serve(client));
  readonly #sockets = new Set<Socket>();
  #responses = 0;
  #lost = 0;

  static async start(): Promise<LossyProxy> {
    const proxy = new LossyProxy();
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How many responses were cut off. */
  get lost(): number {
    return this.#lost;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(client: Socket): void {
    const { hostname, port } = new URL(serviceUrl);
    const service = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      this.#sockets.add(socket);
      // A lost connection ends by `close` as well.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        other.end();
      });
    }
    let isResponseDue = false;
    client.on('data', (chunk) => {
      isResponseDue = true;
      service.write(chunk);
    });
    service.on('data', (chunk) => {
      if (!isResponseDue) return void client.write(chunk);
      isResponseDue = false;
      this.#responses += 1;
      if (this.#responses % 3 === 0) return void client.write(chunk);
      this.#lost += 1;
      service.removeAllListeners('data').destroy();
      client.end(chunk.subarray(0, randomInt(chunk.length)));
    });
  }
}

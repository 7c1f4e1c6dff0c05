import type { Socket } from 'node:net';

import { listenBefore } from '../../support/listen.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';

/** What one message of the server becomes. */
type Damage = (message: Buffer) => Buffer;

/** The length of the message that the bytes begin with; undefined while that isn't known. */
type Framing = (bytes: Buffer) => number | undefined;

interface ProxyOptions {
  readonly port: number;
  /** Of a connection that begins, of which less is damaged: otherwise there would hardly be one. */
  readonly messagesOfStart: number;
  readonly random: SeededRandom;
  readonly framing: Framing;
  readonly damage: Damage;
}

/** Between the service and its server: once armed it damages some of what the server says. */
export class DamagingProxy {
  /** The share of messages that are damaged. */
  share = 0;
  damaged = 0;
  port = 0;
  readonly #options: ProxyOptions;

  static async start(options: ProxyOptions): Promise<DamagingProxy> {
    const proxy = new DamagingProxy(options);
    proxy.port = await listenBefore(options.port, (client, server) => proxy.#join(client, server));
    return proxy;
  }

  private constructor(options: ProxyOptions) {
    this.#options = options;
  }

  #join(client: Socket, server: Socket): void {
    client.on('data', (bytes) => void server.write(bytes));
    let rest = Buffer.alloc(0);
    let passed = 0;
    server.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      const sent: Buffer[] = [];
      for (let length = this.#lengthOf(rest); length !== undefined; length = this.#lengthOf(rest)) {
        sent.push(this.#pass(rest.subarray(0, length), passed));
        passed += 1;
        rest = rest.subarray(length);
      }
      if (sent.length > 0) client.write(Buffer.concat(sent));
    });
  }

  /** Of the first message, once it is complete. */
  #lengthOf(bytes: Buffer): number | undefined {
    const length = this.#options.framing(bytes);
    return length !== undefined && length <= bytes.length ? length : undefined;
  }

  #pass(message: Buffer, passed: number): Buffer {
    const { random, damage, messagesOfStart } = this.#options;
    const share = passed < messagesOfStart ? this.share / 10 : this.share;
    if (random.next() >= share) return message;
    this.damaged += 1;
    return damage(message);
  }
}

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { atEnd } from '../../support/at-end.ts';

/** Random numbers from a seed, by mulberry32: the same ones for the same seed. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
}

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
  readonly #options: ProxyOptions;
  readonly #server = createServer((client) => this.#serve(client));

  static async start(options: ProxyOptions): Promise<DamagingProxy> {
    const proxy = new DamagingProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    atEnd(() => proxy.#server.close());
    return proxy;
  }

  private constructor(options: ProxyOptions) {
    this.#options = options;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #serve(client: Socket): void {
    const server = connect(this.#options.port, '127.0.0.1');
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined).on('close', () => other.destroy());
    }
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

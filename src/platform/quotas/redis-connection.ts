import { createHash } from 'node:crypto';

import { createClient } from '@redis/client';

import type { RedisServer } from './redis-url.ts';

/** The connection is lost when Redis hasn't responded, or a command has waited, for this long. */
const responseTimeoutMillis = 500;
const commandTimeoutMillis = 2_000;

/** Numbers of commands stay exact in Lua. */
const maxNumber = 2 ** 31;

/**
 * A connection to Redis whose commands respond in time or fail; it never connects again by itself.
 *
 * Failure: what can't be read, or is the reply to another command, ends it, and with it all commands that wait.
 */
export class RedisConnection {
  readonly #client: ReturnType<typeof clientFor>;
  #respondedAt = 0;
  #number = 0;

  private constructor(client: ReturnType<typeof clientFor>) {
    this.#client = client;
  }

  /** `onError` is called when the connection is lost, maybe more than once. */
  static async open(server: RedisServer, onError: (error: unknown) => void): Promise<RedisConnection> {
    const client = clientFor(server);
    const connection = new RedisConnection(client);
    client.on('error', (error: unknown) => {
      connection.close();
      onError(error);
    });
    try {
      await connection.#inTime(client.connect(), commandTimeoutMillis);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  async send(words: readonly string[]): Promise<unknown> {
    const reply = await this.#inTime(this.#client.sendCommand([...words]), responseTimeoutMillis);
    this.#respondedAt = performance.now();
    return reply;
  }

  /**
   * Runs a script by its hash, and sends its text only when Redis doesn't know it yet. It gets a number as its last
   * argument and returns a list that ends with it: a reply too many or too few would be that of another command.
   */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<readonly unknown[]> {
    this.#number = (this.#number + 1) % maxNumber;
    const number = this.#number;
    const reply = await this.#evaluate(script, [String(keys.length), ...keys, ...args, String(number)]);
    if (Array.isArray(reply) && reply.at(-1) === number) return reply.slice(0, -1) as unknown[];
    this.close();
    throw new Error('Redis has replied with something other than the result of the script.');
  }

  async #evaluate(script: Script, parameters: readonly string[]): Promise<unknown> {
    try {
      return await this.send(['EVALSHA', script.sha1, ...parameters]);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.send(['EVAL', script.text, ...parameters]);
    }
  }

  /** Aborts all commands that wait for a reply. */
  close(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }

  /** Rejects when there is no reply in time. Replies that came while this process was busy still count. */
  async #inTime<T>(reply: Promise<T>, timeoutMillis: number): Promise<T> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      const check = (): void => {
        const now = performance.now();
        const waited = now - Math.max(startedAt, this.#respondedAt);
        const left = Math.min(timeoutMillis - waited, commandTimeoutMillis - (now - startedAt));
        if (left <= 0) reject(new Error(`Redis hasn't responded for ${Math.round(waited)} ms.`));
        else timer = setTimeout(() => setImmediate(check), left);
      };
      check();
    });
    try {
      return await Promise.race([reply, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/** The text returns lists, which end with its last argument as a number: see `RedisConnection.run`. */
export function scriptOf(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

function clientFor({ host, port, hasTls, username, password, database }: RedisServer) {
  const tls = hasTls ? ({ tls: true } as const) : {};
  return createClient({
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    RESP: 2,
    disableClientInfo: true,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: commandTimeoutMillis, host, port, ...tls },
  });
}

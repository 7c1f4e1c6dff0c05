import { createHash } from 'node:crypto';

import { createClient } from '@redis/client';

/** The connection is lost when Redis hasn't responded, or a command has waited, for this long. */
const responseTimeoutMillis = 500;
const commandTimeoutMillis = 2_000;

/** A connection to Redis whose commands respond in time or fail; it never connects again by itself. */
export class RedisConnection {
  readonly #client: ReturnType<typeof clientFor>;
  #respondedAt = 0;

  private constructor(client: ReturnType<typeof clientFor>) {
    this.#client = client;
  }

  /** `onError` is called when the connection is lost, maybe more than once. */
  static async open(url: string, onError: (error: unknown) => void): Promise<RedisConnection> {
    const client = clientFor(url);
    const connection = new RedisConnection(client);
    // Also emitted for every command that fails; without a listener it would end the process.
    client.on('error', onError);
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

  /** Runs a script by its hash, and sends its text only when Redis doesn't know it yet. */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const parameters = [String(keys.length), ...keys, ...args];
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

  /** Rejects when there is no reply in time. Replies that arrived while this process was busy still count. */
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

export function scriptOf(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

function clientFor(url: string) {
  return createClient({
    url,
    RESP: 2,
    disableClientInfo: true,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: commandTimeoutMillis },
  });
}

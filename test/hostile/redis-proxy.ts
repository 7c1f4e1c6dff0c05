import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { spawnChild } from '../support/child-process.ts';

/** How Redis replies; nothing is as it does by itself. */
export interface RedisReplies {
  /** How long each reply takes. */
  readonly delayMillis?: number;
  /** The reply to every command. */
  readonly nonsense?: string;
}

/** Between the service and Redis: it may take its time, or reply with what Redis would never say. */
export class RedisProxy {
  readonly #process: ChildProcess;
  readonly url: string;

  static async start(redisUrl: string): Promise<RedisProxy> {
    const parameters = [`${import.meta.dirname}/redis-proxy-process.ts`, new URL(redisUrl).port];
    const proxy = spawnChild(process.execPath, parameters, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [port] = (await once(proxy, 'message')) as [number];
    return new RedisProxy(proxy, `redis://127.0.0.1:${port}`);
  }

  private constructor(proxy: ChildProcess, url: string) {
    this.#process = proxy;
    this.url = url;
  }

  /** From now on. */
  async reply(replies: RedisReplies): Promise<void> {
    this.#process.send(replies);
    await once(this.#process, 'message');
  }
}

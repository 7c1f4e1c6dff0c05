import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { createClient } from '@redis/client';

import type { BanRules } from '../domain/quota/bans.ts';
import type { Charge, CounterStore, QuotaDecision, QuotaSubject } from '../domain/quota/counter-store.ts';
import { decisionOf, type Verdict } from '../domain/quota/counter.ts';
import { consumeScript } from './consume-script.ts';
import type { MemoryCounterStore } from './memory-counter-store.ts';

export interface RedisCounterStoreOptions {
  readonly url: string;
  readonly rules: BanRules;
  /** Counts on while Redis is gone; it has the same rules. */
  readonly local: MemoryCounterStore;
  /** Told once when Redis is gone, with the reason, and once when it is back. */
  readonly onSharedChange: (isShared: boolean, reason?: unknown) => void;
  /** Left out, Redis' own time is taken, so that the clocks of the processes don't matter. */
  readonly now?: (() => number) | undefined;
}

/** When Redis has been silent for so long, or a request has waited for so long, no other one waits until Redis is back. */
const longestSilenceMillis = 500;
const longestWaitMillis = 2_000;
const reconnectMillis = 500;

const scriptHash = createHash('sha1').update(consumeScript).digest('hex');
const outcomes = ['admitted', 'refused', 'too_costly', 'banned', 'banned'] as const;
const banBegun = 4;

/** Asked when Redis is back: whether it can be written to as well. */
const probe: QuotaSubject = {
  id: 'probe',
  limits: { requestsPerMinute: 2 ** 31, requestsPerDay: 2 ** 31 },
  bans: undefined,
  isAnonymous: true,
};

type Client = ReturnType<typeof connectionTo>;

/**
 * Counts in Redis, together with every other process that does: one script decides, one round trip.
 *
 * When Redis is gone, paused or slow, this process goes on by itself from what it knows, and returns with it when Redis does. No
 * request fails by it.
 */
export class RedisCounterStore implements CounterStore {
  readonly #options: RedisCounterStoreOptions;
  /** The connection while Redis is well. */
  #client: Client | undefined;
  #answeredAt = 0;
  #isClosed = false;

  private constructor(options: RedisCounterStoreOptions) {
    this.#options = options;
  }

  /** Waits for Redis no longer than a moment: when it isn't there, counting begins without it. */
  static async connect(options: RedisCounterStoreOptions): Promise<RedisCounterStore> {
    const store = new RedisCounterStore(options);
    try {
      store.#client = await store.#open();
    } catch (error) {
      store.#lose(undefined, error);
    }
    return store;
  }

  /** Whether the counters are those of all processes. */
  get isShared(): boolean {
    return this.#client !== undefined;
  }

  async decide(subject: QuotaSubject, charge: Charge): Promise<QuotaDecision> {
    const { local } = this.#options;
    const verdict = this.#client && (await this.#askOrLose(this.#client, subject, charge));
    if (verdict === undefined) return local.decideNow(subject, charge);
    local.adopt(subject, verdict);
    return decisionOf(verdict, subject, charge);
  }

  close(): void {
    this.#isClosed = true;
    disconnect(this.#client);
    this.#client = undefined;
  }

  async #askOrLose(client: Client, subject: QuotaSubject, charge: Charge): Promise<Verdict | undefined> {
    try {
      const verdict = await this.#inTime(this.#ask(client, subject, charge));
      this.#answeredAt = performance.now();
      return verdict;
    } catch (error) {
      this.#lose(client, error);
      return undefined;
    }
  }

  async #ask(client: Client, subject: QuotaSubject, charge: Charge): Promise<Verdict> {
    const parameters = this.#parametersOf(subject, charge);
    try {
      return verdictOf(await client.sendCommand(['EVALSHA', scriptHash, ...parameters]));
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return verdictOf(await client.sendCommand(['EVAL', consumeScript, ...parameters]));
    }
  }

  #parametersOf(subject: QuotaSubject, { needs, spends }: Charge): string[] {
    const { id, limits, bans } = subject;
    const { rules, now, local } = this.#options;
    const { minute, day, bannedUntil } = local.recall(subject);
    const key = `petstore:quota:{${id}}`;
    return [
      '2',
      key,
      `${key}:refusals`,
      now === undefined ? '' : String(now()),
      String(needs),
      String(spends),
      String(limits.requestsPerMinute),
      String(limits.requestsPerDay),
      String(rules.banAfter),
      String(rules.banForSeconds),
      bans === undefined ? '' : String(bans.epoch),
      bans === undefined ? '' : String(Math.max(bans.bannedUntil, bannedUntil)),
      bans === undefined ? '' : bans.automaticBans.join(' '),
      ...[minute.openedAt, minute.spent, day.openedAt, day.spent].map(String),
    ];
  }

  async #open(): Promise<Client> {
    const client = connectionTo(this.#options.url);
    // Told by every command that fails as well; without a listener it would end the process.
    client.on('error', (error: unknown) => this.#lose(client, error));
    try {
      await this.#inTime(client.connect(), longestWaitMillis);
      await this.#inTime(this.#ask(client, probe, { needs: 1, spends: 1 }));
      if (this.#isClosed) throw new Error('The counter store is closed.');
      return client;
    } catch (error) {
      disconnect(client);
      throw error;
    }
  }

  /** Rejects when there is no answer in time. Those that have come while this process itself was busy are still taken. */
  async #inTime<T>(answer: Promise<T>, silenceMillis = longestSilenceMillis): Promise<T> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      const look = (): void => {
        const now = performance.now();
        const silence = now - Math.max(startedAt, this.#answeredAt);
        const left = Math.min(silenceMillis - silence, longestWaitMillis - (now - startedAt));
        if (left <= 0) reject(new Error(`Redis hasn't answered for ${Math.round(silence)} ms.`));
        else timer = setTimeout(() => setImmediate(look), left);
      };
      look();
    });
    try {
      return await Promise.race([answer, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives the connection up, and with it all requests that wait on it. */
  #lose(client: Client | undefined, reason: unknown): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    disconnect(client);
    this.#options.onSharedChange(false, reason);
    void this.#recover();
  }

  async #recover(): Promise<void> {
    while (!this.#isClosed) {
      await wait(reconnectMillis, undefined, { ref: false });
      const client = await this.#open().catch(() => undefined);
      if (client === undefined) continue;
      this.#client = client;
      this.#options.onSharedChange(true);
      return;
    }
  }
}

function connectionTo(url: string) {
  return createClient({
    url,
    RESP: 2,
    disableClientInfo: true,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: longestWaitMillis },
  });
}

/** Gives the connection up, with everything that waits on it; one that is closed already says so by an error. */
function disconnect(client: Client | undefined): void {
  if (client?.isOpen === true) client.destroy();
}

function verdictOf(reply: unknown): Verdict {
  const [
    outcome = 0,
    now = 0,
    minuteOpenedAt = 0,
    minuteSpent = 0,
    dayOpenedAt = 0,
    daySpent = 0,
    bannedUntil = 0,
    banEpoch = 0,
  ] = reply as number[];
  return {
    outcome: outcomes[outcome] ?? 'admitted',
    now,
    minute: { openedAt: minuteOpenedAt, spent: minuteSpent },
    day: { openedAt: dayOpenedAt, spent: daySpent },
    bannedUntil,
    banEpoch,
    isBanNew: outcome === banBegun,
  };
}

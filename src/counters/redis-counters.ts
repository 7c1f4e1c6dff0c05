import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';

import type { BanRules } from '../domain/quota/bans.ts';
import type { Charge, QuotaSubject } from '../domain/quota/counter-store.ts';
import type { CounterDecision } from '../domain/quota/counter.ts';
import { consumeScript, lifetimeMillis } from './consume-script.ts';
import type { SharedCounters } from './fallback-counter-store.ts';
import type { CounterSnapshot } from './memory-counter-store.ts';
import { RedisConnection, scriptOf } from './redis-connection.ts';

export interface RedisCountersOptions {
  readonly url: string;
  readonly rules: BanRules;
  /** Undefined takes Redis' own time, so that the clocks of the processes don't matter. */
  readonly now?: (() => number) | undefined;
}

/** The number of counters that addresses share, so that Redis holds no more. */
const addressSlots = 100_000;

/** Identifies the data in Redis: it is lost together with the counters. */
const generationKey = 'petstore:quota:generation';

const script = scriptOf(consumeScript);
const outcomes = ['admitted', 'refused', 'too_costly', 'banned', 'banned'] as const;
const otherGeneration = -1;
const banBegun = 4;

/** Run once after connecting, to check that Redis accepts writes. */
const probe: QuotaSubject = {
  id: 'probe',
  limits: { requestsPerMinute: 2 ** 31, requestsPerDay: 2 ** 31 },
  bans: undefined,
  isAnonymous: false,
};
const nothingKnown: CounterSnapshot = {
  minute: { openedAt: 0, spent: 0 },
  day: { openedAt: 0, spent: 0 },
  bannedUntil: 0,
};

/** Connects to the counters of all processes. Rejects when Redis can't be reached in time, or can't be written to. */
export async function connectRedisCounters(
  options: RedisCountersOptions,
  onError: (error: unknown) => void,
): Promise<SharedCounters> {
  const connection = await RedisConnection.open(options.url, onError);
  try {
    // The first process to connect names the generation.
    await connection.send(['SET', generationKey, randomUUID(), 'NX', 'PX', String(lifetimeMillis)]);
    const counters = new RedisCounters(connection, options, String(await connection.send(['GET', generationKey])));
    await counters.decide(probe, { needs: 1, spends: 1 }, nothingKnown);
    return counters;
  } catch (error) {
    connection.close();
    throw error;
  }
}

class RedisCounters implements SharedCounters {
  readonly #connection: RedisConnection;
  readonly #options: RedisCountersOptions;
  readonly #generation: string;

  constructor(connection: RedisConnection, options: RedisCountersOptions, generation: string) {
    this.#connection = connection;
    this.#options = options;
    this.#generation = generation;
  }

  async decide(subject: QuotaSubject, { needs, spends }: Charge, known: CounterSnapshot): Promise<CounterDecision> {
    const { limits, bans } = subject;
    const { rules, now } = this.#options;
    const counter = `petstore:quota:{${nameOf(subject)}}`;
    const reply = await this.#connection.run(
      script,
      [counter, `${counter}:refusals`, generationKey],
      [
        this.#generation,
        now === undefined ? '' : String(now()),
        String(needs),
        String(spends),
        String(limits.requestsPerMinute),
        String(limits.requestsPerDay),
        String(rules.banAfter),
        String(rules.banForSeconds),
        bans === undefined ? '' : String(bans.epoch),
        bans === undefined ? '' : String(Math.max(bans.bannedUntil, known.bannedUntil)),
        bans === undefined ? '' : bans.automaticBans.join(' '),
        ...[known.minute.openedAt, known.minute.spent, known.day.openedAt, known.day.spent].map(String),
      ],
    );
    return counterDecisionOf(reply);
  }

  close(): void {
    this.#connection.close();
  }
}

function nameOf({ id, isAnonymous }: QuotaSubject): string {
  return isAnonymous ? `address:${crc32(id) % addressSlots}` : id;
}

function counterDecisionOf(reply: unknown): CounterDecision {
  const [outcome = otherGeneration, now = 0, ...figures] = reply as number[];
  if (outcome === otherGeneration) throw new Error('Redis has been emptied.');
  const [minuteOpenedAt = 0, minuteSpent = 0, dayOpenedAt = 0, daySpent = 0, bannedUntil = 0, banEpoch = 0] = figures;
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

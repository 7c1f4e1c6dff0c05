import { crc32 } from 'node:zlib';

import type { BanRules } from './bans.ts';
import type { Charge, QuotaSubject } from './counter-store.ts';
import type { CounterDecision } from './counter.ts';
import { type CounterFigures, readResponse } from './counter-messages.ts';
import { consumeScript } from './consume-script.ts';
import { UnsuitableCounters, type SharedCounters } from './fallback-counter-store.ts';
import { type CounterSnapshot, emptySnapshot } from './memory-counter-store.ts';
import { RedisConnection, scriptOf } from './redis-connection.ts';
import { openRedisKeys, type RedisKeys } from './redis-keys.ts';
import { masterOf, watchMaster } from './redis-master.ts';
import { noCluster, parseRedisUrl } from './redis-url.ts';

export interface RedisCountersOptions {
  readonly url: string;
  /** The keys of all counters begin with it: another one for each database, so that two on one Redis don't meet. */
  readonly prefix: string;
  readonly rules: BanRules;
  /** Undefined takes Redis' own time, so that the clocks of the processes don't matter. */
  readonly now?: (() => number) | undefined;
  /** Called with the policy by which this Redis evicts counters when its memory is full, as far as it says so. */
  readonly onEviction?: ((policy: string) => void) | undefined;
}

/** The number of counters that addresses share, so that Redis holds no more. */
const addressSlots = 100_000;

const script = scriptOf(consumeScript);
const outcomes = ['admitted', 'refused', 'too_costly', 'banned', 'banned'] as const;
const refusals = { counted: '1', excused: '2' } as const;
const otherGeneration = -1;
const banBegun = 4;
const figureCount = 7;

/** Run once after connecting, to check that Redis accepts writes. */
const probe: QuotaSubject = {
  id: 'probe',
  limits: { requestsPerMinute: 2 ** 31, requestsPerDay: 2 ** 31 },
  bans: undefined,
  isAnonymous: false,
};

/** How a node of a Redis Cluster refuses keys that may be on different nodes. */
const clusterRefusal = /^(?:CROSSSLOT|MOVED|ASK|CLUSTERDOWN)\b/;

/**
 * Connects to the counters of all processes. Rejects when Redis can't be reached in time, or can't be written to,
 * and with UnsuitableCounters when it is a Redis Cluster.
 */
export async function connectRedisCounters(
  options: RedisCountersOptions,
  onError: (error: unknown) => void,
): Promise<SharedCounters> {
  const location = parseRedisUrl(options.url);
  const server = 'server' in location ? location.server : await masterOf(location);
  const connection = await RedisConnection.open(server, onError);
  try {
    const keys = await openRedisKeys(connection, options.prefix);
    const decide: SharedCounters['decide'] = async (subject, charge, known) => {
      const [names, args] = parametersOf(keys, options, subject, charge, known);
      return counterDecisionOf(await connection.run(script, names, args));
    };
    const { now: connectedAt } = await decide(probe, { needs: 1, spends: 1 }, emptySnapshot);
    const policy = await evictionPolicyOf(connection);
    if (policy !== undefined && policy !== 'noeviction') options.onEviction?.(policy);
    const ending = new AbortController();
    watchMaster(location, server, ending.signal, onError).catch(onError);
    const close = (): void => {
      ending.abort();
      connection.close();
    };
    return { decide, connectedAt, close };
  } catch (error) {
    connection.close();
    if (!(error instanceof Error && clusterRefusal.test(error.message))) throw error;
    throw new UnsuitableCounters(`REDIS_URL ${noCluster}`, { cause: error });
  }
}

/**
 * Undefined where its user may not ask. All counters expire, so that every other policy than `noeviction` evicts them.
 */
async function evictionPolicyOf(connection: RedisConnection): Promise<string | undefined> {
  const reply = await connection.send(['CONFIG', 'GET', 'maxmemory-policy']).catch(() => undefined);
  const policy: unknown = Array.isArray(reply) ? reply[1] : undefined;
  return typeof policy === 'string' && /^[a-z-]{1,40}$/.test(policy) ? policy : undefined;
}

/** KEYS and ARGV of the script. */
function parametersOf(
  { prefix, generationKey, generation }: RedisKeys,
  { rules, now }: RedisCountersOptions,
  subject: QuotaSubject,
  { needs, spends, refusal }: Charge,
  known: CounterSnapshot,
): [keys: string[], args: string[]] {
  const { limits, bans } = subject;
  const counter = `${prefix}:{${nameOf(subject)}}`;
  return [
    [counter, `${counter}:refusals`, generationKey],
    [
      generation,
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
      refusal === undefined ? '' : refusals[refusal],
    ],
  ];
}

function nameOf({ id, isAnonymous }: QuotaSubject): string {
  return isAnonymous ? `address:${crc32(id) % addressSlots}` : id;
}

/** Throws for anything but what the script returns: whatever else responds there isn't counting. */
export function counterDecisionOf(reply: unknown): CounterDecision {
  if (!isFigures(reply)) throw new Error('Redis has replied with something other than whole numbers.');
  const [outcomeIndex, ...figures] = reply;
  if (outcomeIndex === otherGeneration) throw new Error('Redis has been emptied.');
  const outcome = outcomes[outcomeIndex];
  if (outcome === undefined || figures.length !== figureCount || figures.some((figure) => figure < 0)) {
    throw new Error('Redis has replied with numbers that are no decision.');
  }
  return readResponse([outcome, outcomeIndex === banBegun, ...(figures as CounterFigures)]);
}

function isFigures(reply: unknown): reply is [number, ...number[]] {
  return Array.isArray(reply) && reply.length > 0 && reply.every((figure) => Number.isSafeInteger(figure));
}

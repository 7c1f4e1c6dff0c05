import { randomUUID } from 'node:crypto';

import { lifetimeMillis } from './consume-script.ts';
import { scriptOf, type RedisConnection } from './redis-connection.ts';

/** The services on one database. Counters that several installations keep in one place are named after them. */
export interface Installation {
  /** Differs from that of every other database. */
  readonly id: string;
  /** The names of all counters in Redis begin with it. */
  readonly prefix: string;
  /**
   * Until then the previous version, which names counters without an id, may run beside this one; in milliseconds since
   * 1970.
   */
  readonly previousNamesUntil: number;
}

/** Under which keys a process counts. */
export interface RedisKeys {
  /** The keys of all counters begin with it. */
  readonly prefix: string;
  /** The key of the generation; twice where its expiry moves with the counters', as `consumeScript` has it. */
  readonly generationKeys: readonly string[];
  /** It identifies the data in Redis: it is lost together with the counters. */
  readonly generation: string;
}

/**
 * KEYS: the generation of the installation; the one of whom the keys of the previous version belong to. ARGV: the id of
 * the installation; a new generation; for how many milliseconds it may claim the keys of the previous version; a number.
 * Returns: 1 for the keys of the previous version, 0 for those of the installation; the generation; the number.
 */
const script = scriptOf(`
local own, mine, left = redis.call('GET', KEYS[1]), ARGV[1] .. ' ', tonumber(ARGV[3])
if own then return { 0, own, tonumber(ARGV[4]) } end
if left > 0 then redis.call('SET', KEYS[2], mine .. ARGV[2], 'NX', 'PX', left) end
local claimed = redis.call('GET', KEYS[2])
if claimed and string.sub(claimed, 1, #mine) == mine then return { 1, claimed, tonumber(ARGV[4]) } end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ${lifetimeMillis})
return { 0, ARGV[2], tonumber(ARGV[4]) }
`);

/**
 * The keys of an installation hold its id, so that two on one Redis don't meet.
 *
 * Those of the previous version hold none. For a day after an update, one installation may count under them, with the
 * processes of that version: the first to claim them. The claim is never extended; when it has expired, its processes
 * connect again, each with its next request, and bring what they know to their own keys, as after an emptied Redis.
 */
export async function claimRedisKeys(
  connection: RedisConnection,
  { id, prefix, previousNamesUntil }: Installation,
  databaseNow: () => number,
): Promise<RedisKeys> {
  const [own, claim] = [`${prefix}:${id}:generation`, `${prefix}:claim`];
  const left = Math.min(lifetimeMillis, Math.max(0, Math.floor(previousNamesUntil - databaseNow())));
  const [form, generation] = await connection.run(script, [own, claim], [id, randomUUID(), String(left)]);
  if (typeof generation !== 'string') throw new Error('Redis has replied with something other than a generation.');
  return form === 1
    ? { prefix, generationKeys: [claim], generation }
    : { prefix: `${prefix}:${id}`, generationKeys: [own, own], generation };
}

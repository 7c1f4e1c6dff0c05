import { randomUUID } from 'node:crypto';

import type { Installation } from './installation.ts';
import { lifetimeMillis } from './consume-script.ts';
import { scriptOf, type RedisConnection } from './redis-connection.ts';

const prefix = 'petstore:quota';

/** Under which keys a process counts. */
export interface RedisKeys {
  /** The keys of all counters begin with it. */
  readonly prefix: string;
  /** Its value identifies the data in Redis: it is lost together with the counters. */
  readonly generationKey: string;
  readonly generation: string;
  /** Whether these are the keys of the previous version, without the id of an installation. */
  readonly isPrevious: boolean;
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
  { id, previousNamesUntil }: Installation,
  databaseNow: () => number,
): Promise<RedisKeys> {
  const own = { prefix: `${prefix}:${id}`, generationKey: `${prefix}:${id}:generation` };
  const previous = { prefix, generationKey: `${prefix}:claim` };
  const left = Math.min(lifetimeMillis, Math.max(0, Math.floor(previousNamesUntil - databaseNow())));
  const keys = [own.generationKey, previous.generationKey];
  const [form, generation] = await connection.run(script, keys, [id, randomUUID(), String(left)]);
  if (typeof generation !== 'string') throw new Error('Redis has replied with something other than a generation.');
  const isPrevious = form === 1;
  return { ...(isPrevious ? previous : own), generation, isPrevious };
}

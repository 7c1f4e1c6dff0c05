import { randomUUID } from 'node:crypto';

import { lifetimeMillis } from './consume-script.ts';
import { scriptOf, type RedisConnection } from './redis-connection.ts';

/** Under which keys a process counts. */
export interface RedisKeys {
  /** The keys of all counters begin with it. */
  readonly prefix: string;
  /** The key of the generation, which expires with the last counter. */
  readonly generationKey: string;
  /** The id of the data in Redis: it is lost together with the counters. */
  readonly generation: string;
}

/**
 * KEYS: the generation. ARGV: a new generation, for a Redis that has none; a number. Returns: the generation; the
 * number.
 */
const script = scriptOf(`
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ${lifetimeMillis})
return { redis.call('GET', KEYS[1]), tonumber(ARGV[2]) }
`);

export async function openRedisKeys(connection: RedisConnection, prefix: string): Promise<RedisKeys> {
  const generationKey = `${prefix}:generation`;
  const [generation] = await connection.run(script, [generationKey], [randomUUID()]);
  if (typeof generation !== 'string') throw new Error('Redis has replied with something other than a generation.');
  return { prefix, generationKey, generation };
}

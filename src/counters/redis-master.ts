import { setTimeout as wait } from 'node:timers/promises';

import { RedisConnection } from './redis-connection.ts';
import type { RedisLocation, RedisSentinels } from './redis-url.ts';

/** After a planned fail-over the old master accepts writes for some seconds more. */
const watchMillis = 2_000;

/** The URL of the server to count in: the one that is named, or the master of the sentinels. */
export function serverUrlOf(location: RedisLocation): Promise<string> {
  return 'server' in location ? Promise.resolve(location.server) : masterOf(location);
}

/** Calls the listener once when the sentinels name another master than this one, until the signal is aborted. */
export async function watchMaster(
  location: RedisLocation,
  url: string,
  signal: AbortSignal,
  onOther: (error: Error) => void,
): Promise<void> {
  if ('server' in location) return;
  for (;;) {
    await wait(watchMillis, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return;
    const master = await masterOf(location).catch(() => url);
    if (signal.aborted) return;
    if (master === url) continue;
    onOther(new Error(`The sentinels name another master: ${new URL(master).host}.`));
    return;
  }
}

/**
 * The server that more than half of the sentinels name, as soon as they do; otherwise the one that most of those who
 * reply name.
 *
 * They are asked before each connection, so a fail-over is a lost connection and a new one. All are asked at once,
 * because any of them may hang, and the one that is cut off from the others names the old master.
 */
function masterOf(location: RedisSentinels): Promise<string> {
  const { sentinels } = location;
  return new Promise((resolve, reject) => {
    const votes = new Map<string, number>();
    const errors: Error[] = [];
    let left = sentinels.length;
    const end = (): void => {
      left -= 1;
      const [most] = [...votes].toSorted(([, a], [, b]) => b - a);
      if (most !== undefined && (left === 0 || most[1] > sentinels.length / 2)) resolve(most[0]);
      else if (left === 0) reject(new Error(errors.map(({ message }) => message).join('; '), { cause: errors[0] }));
    };
    for (const sentinel of sentinels) {
      masterAccordingTo(sentinel, location)
        .then(
          (url) => {
            votes.set(url, (votes.get(url) ?? 0) + 1);
          },
          (error: unknown) => {
            errors.push(error as Error);
          },
        )
        .then(end, reject);
    }
  });
}

async function masterAccordingTo(sentinel: string, sentinels: RedisSentinels): Promise<string> {
  const { masterName, serverUrl } = sentinels;
  try {
    const reply = await requestMaster(sentinel, sentinels);
    if (reply === null) throw new Error(`no master is called ${JSON.stringify(masterName)}`);
    const [host, port] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (typeof host !== 'string' || !/^\d{1,5}$/.test(String(port))) throw new Error('the reply names no server');
    return serverUrl(host, Number(port));
  } catch (error) {
    throw new Error(`The sentinel ${new URL(sentinel).host}: ${(error as Error).message}`, { cause: error });
  }
}

/** A password is sent only to a sentinel that asks for one: others refuse a connection that begins with it. */
async function requestMaster(sentinel: string, { masterName, username, password }: RedisSentinels): Promise<unknown> {
  const connection = await RedisConnection.open(sentinel, () => undefined);
  const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName];
  try {
    return await connection.send(question).catch(async (error: unknown) => {
      const isRefused = error instanceof Error && /^(?:NOAUTH|NOPERM)\b/.test(error.message);
      if (!isRefused || password === undefined) throw error;
      await connection.send(['AUTH', ...(username === undefined ? [] : [username]), password]);
      return connection.send(question);
    });
  } finally {
    connection.close();
  }
}

import { setTimeout as wait } from 'node:timers/promises';

import { RedisConnection } from './redis-connection.ts';
import { nameOfServer, type RedisLocation, type RedisSentinels, type RedisServer } from './redis-url.ts';

/** After a planned fail-over the old master accepts writes for some seconds more. */
const watchMillis = 2_000;

/** Calls the listener once when the sentinels name another master than this one, until the signal is aborted. */
export async function watchMaster(
  location: RedisLocation,
  server: RedisServer,
  signal: AbortSignal,
  onOther: (error: Error) => void,
): Promise<void> {
  if ('server' in location) return;
  for (;;) {
    await wait(watchMillis, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return;
    const master = nameOfServer(await masterOf(location).catch(() => server));
    if (signal.aborted) return;
    if (master === nameOfServer(server)) continue;
    onOther(new Error(`The sentinels name another master: ${master}.`));
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
export async function masterOf(location: RedisSentinels): Promise<RedisServer> {
  const { sentinels } = location;
  const votes = new Map<string, { readonly server: RedisServer; count: number }>();
  const { promise: ofMajority, resolve } = Promise.withResolvers<RedisServer>();
  const asked = sentinels.map(async (sentinel) => {
    const server = await masterAccordingTo(sentinel, location);
    const vote = votes.get(nameOfServer(server)) ?? { server, count: 0 };
    vote.count += 1;
    votes.set(nameOfServer(server), vote);
    if (vote.count > sentinels.length / 2) resolve(server);
  });
  const ofMost = Promise.allSettled(asked).then((outcomes) => {
    const [most] = [...votes.values()].toSorted((a, b) => b.count - a.count);
    if (most !== undefined) return most.server;
    const errors = outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason as Error);
    throw new Error(errors.map(({ message }) => message).join('; '), { cause: errors[0] });
  });
  return Promise.race([ofMajority, ofMost]);
}

async function masterAccordingTo(sentinel: RedisServer, sentinels: RedisSentinels): Promise<RedisServer> {
  const { masterName, master } = sentinels;
  try {
    const reply = await requestMaster(sentinel, sentinels);
    if (reply === null) throw new Error(`no master is called ${JSON.stringify(masterName)}`);
    const [host, port] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (!isHost(host) || !isPort(port)) throw new Error('the reply names no server');
    return { ...master, host, port: Number(port) };
  } catch (error) {
    throw new Error(`The sentinel ${nameOfServer(sentinel)}: ${(error as Error).message}`, { cause: error });
  }
}

/** A name or an address, an IPv6 one maybe with its zone. */
function isHost(host: unknown): host is string {
  return typeof host === 'string' && /^[\w.:%-]{1,253}$/.test(host);
}

function isPort(port: unknown): boolean {
  return /^\d{1,5}$/.test(String(port)) && Number(port) >= 1 && Number(port) <= 65_535;
}

/** A password is sent only to a sentinel that asks for one: others refuse a connection that begins with it. */
async function requestMaster(sentinel: RedisServer, { masterName, master }: RedisSentinels): Promise<unknown> {
  const { username, password } = master;
  const connection = await RedisConnection.open(sentinel, () => undefined);
  const command = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName];
  try {
    return await connection.send(command).catch(async (error: unknown) => {
      const isRefused = error instanceof Error && /^(?:NOAUTH|NOPERM)\b/.test(error.message);
      if (!isRefused || password === undefined) throw error;
      await connection.send(['AUTH', ...(username === undefined ? [] : [username]), password]);
      return connection.send(command);
    });
  } finally {
    connection.close();
  }
}

/** An unusable URL. The message says what is wrong and what would be right, without a password. */
export class UnusableRedisUrl extends Error {
  override readonly name = 'UnusableRedisUrl';
}

/** One server, or the sentinels that know which one of their servers is the master. */
export type RedisLocation = { readonly server: string } | RedisSentinels;

export interface RedisSentinels {
  /** URLs without credentials. */
  readonly sentinels: readonly string[];
  /** For the servers, and for a sentinel that asks for a password. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly masterName: string;
  /** The URL of the server that the sentinels name. */
  readonly serverUrl: (host: string, port: number) => string;
}

const form = 'redis://user:password@host:port, or redis+sentinel://user:password@s1:26379,s2:26379/mymaster';

const sentinelForm = /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/(\d{1,4}))?$/;

const defaultSentinelPort = 26_379;

/** Throws UnusableRedisUrl. */
export function parseRedisUrl(text: string): RedisLocation {
  if (/^rediss?\+cluster:/.test(text)) throw new UnusableRedisUrl(`REDIS_URL ${noCluster}`);
  if (/^rediss?\+sentinel:/.test(text)) return sentinelsOf(text);
  const url = URL.parse(text);
  const isUsable = url !== null && /^rediss?:$/.test(url.protocol) && /^(?:\/\d{0,4})?$/.test(url.pathname);
  if (!isUsable || url.hostname.includes(',')) throw unusable();
  return { server: text };
}

/** What an installation on Redis Cluster may use instead. */
export const noCluster =
  'must not name a Redis Cluster, which is not supported: use one Redis server, or a master with replicas behind sentinels (redis+sentinel://).';

function sentinelsOf(text: string): RedisSentinels {
  const [, scheme = '', credentials = '', hosts, name = '', database = '0'] = sentinelForm.exec(text) ?? [];
  if (hosts === undefined) throw unusable();
  const [username, password, ...others] = credentials.split(':').map(decoded);
  if (others.length > 0) throw unusable();
  const sentinels = hosts.split(',').map((host) => {
    const url = URL.parse(`${scheme}://${host}`);
    if (url === null || url.hostname === '') throw unusable();
    return `${scheme}://${url.hostname}:${url.port || defaultSentinelPort}`;
  });
  const authority = credentials && `${credentials}@`;
  return {
    sentinels,
    username: username || undefined,
    password: password || undefined,
    masterName: decoded(name),
    serverUrl: (host, port) => `${scheme}://${authority}${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw unusable(error);
  }
}

function unusable(cause?: unknown): UnusableRedisUrl {
  return new UnusableRedisUrl(`REDIS_URL must be the URL of a Redis server: ${form}.`, { cause });
}

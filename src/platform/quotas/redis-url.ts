/** An unusable URL. The message says what is wrong and what would be right, without a password. */
export class UnusableRedisUrl extends Error {
  override readonly name = 'UnusableRedisUrl';
}

/**
 * Options instead of a URL: what a sentinel says is an address may make none, and a failed URL is a part of its error.
 */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  readonly hasTls: boolean;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly database?: number | undefined;
}

/** One server, or the sentinels that know which one of their servers is the master. */
export type RedisLocation = { readonly server: RedisServer } | RedisSentinels;

export interface RedisSentinels {
  /** Without credentials. */
  readonly sentinels: readonly RedisServer[];
  readonly masterName: string;
  /** Any of their servers; the credentials are also for a sentinel that asks for a password. */
  readonly master: Omit<RedisServer, 'host' | 'port'>;
}

/** For people: without credentials. */
export function nameOfServer({ host, port }: Pick<RedisServer, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const form = 'redis://user:password@host:port/0, or redis+sentinel://user:password@s1:26379,s2:26379/mymaster';

const sentinelForm = /^(rediss?)\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/(\d{1,4}))?$/;

const defaultPort = 6_379;
const defaultSentinelPort = 26_379;

/** Throws UnusableRedisUrl. */
export function parseRedisUrl(text: string): RedisLocation {
  if (/^rediss?\+cluster:/.test(text)) throw new UnusableRedisUrl(`REDIS_URL ${noCluster}`);
  if (/^rediss?\+sentinel:/.test(text)) return sentinelsOf(text);
  const url = URL.parse(text);
  const isUsable = url !== null && /^rediss?:$/.test(url.protocol) && /^(?:\/\d{0,4})?$/.test(url.pathname);
  if (!isUsable || url.hostname.includes(',') || url.search !== '' || url.hash !== '') throw unusable();
  return {
    server: {
      ...serverAt(url, defaultPort),
      username: decoded(url.username) || undefined,
      password: decoded(url.password) || undefined,
      database: Number(url.pathname.slice(1)),
    },
  };
}

function serverAt({ protocol, hostname, port }: URL, otherwise: number): RedisServer {
  const host = hostname.replace(/^\[(.*)\]$/, '$1') || 'localhost';
  return { host, port: port === '' ? otherwise : Number(port), hasTls: protocol === 'rediss:' };
}

/** The alternative for an installation on Redis Cluster. */
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
    return serverAt(url, defaultSentinelPort);
  });
  return {
    sentinels,
    masterName: decoded(name),
    master: {
      hasTls: scheme === 'rediss',
      username: username || undefined,
      password: password || undefined,
      database: Number(database),
    },
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

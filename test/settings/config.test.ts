import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { listenFailure } from '../../src/process/listen.ts';
import { ConfigError, readConfig } from '../../src/settings/config.ts';
import { parseDatabaseUrl } from '../../src/settings/database-url.ts';
import { parseRedisUrl } from '../../src/platform/quotas/index.ts';

const adminKey = 'k'.repeat(32);

function messageFor(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('The settings were accepted.');
}

describe('settings', () => {
  it('have the documented defaults, also when a variable is empty', () => {
    const defaults = {
      port: 4000,
      host: '127.0.0.1',
      databaseUrl: undefined,
      databasePoolSize: 10,
      databaseReplicas: [],
      dataDir: '.data',
      restPrefix: '',
      withDemoStore: true,
      drainDelaySeconds: 0,
      drainTimeoutSeconds: 30,
      logLevel: 'info',
      redisUrl: undefined,
      adminApiKey: undefined,
      banRules: { banAfter: 100, banForSeconds: 900 },
      trustProxy: false,
      corsOrigins: [],
      metricsPort: undefined,
      graphql: {
        introspection: true,
        maxDepth: 15,
        maxComplexity: 5000,
        maxAliases: 50,
        maxFields: 1000,
        maxTokens: 2000,
        maxResponseBytes: 8_388_608,
        documentsPath: undefined,
        documentsOnly: false,
      },
    };
    expect(readConfig({})).toMatchObject(defaults);
    expect(readConfig({ PORT: '', DATABASE_URL: '', DRAIN_DELAY: '', DEMO: '' })).toMatchObject(defaults);
  });

  it('name replicas by host and port, beside a primary', () => {
    const DATABASE_URL = 'postgresql://u:p@h1/d';
    const { databaseReplicas } = readConfig({
      DATABASE_URL,
      DATABASE_REPLICAS: 'h2:5432, db-3.example:5433,[fd00::4]:1',
    });
    expect(databaseReplicas).toEqual([
      { host: 'h2', port: 5432 },
      { host: 'db-3.example', port: 5433 },
      { host: 'fd00::4', port: 1 },
    ]);
    expect(messageFor({ DATABASE_REPLICAS: 'h2:5432' })).toMatch(
      /^DATABASE_REPLICAS is set, but the embedded database has no standbys: set DATABASE_URL/,
    );
    expect(messageFor({ DATABASE_URL, DATABASE_REPLICAS: 'h2:5432', DATABASE_POOL: '1' })).toMatch(
      /^DATABASE_POOL is "1", but must be 2 or more with DATABASE_REPLICAS/,
    );
  });

  it.each([
    'h2',
    'h2:0',
    'h2:65536',
    'h2:5432,',
    'h2:5432;h3:5432',
    'h2:5432,h2:5432',
    '[h2]:5432',
    '[fd00::g]:5432',
    'fd00::4:5432',
    'postgresql://u:secret@h2:5432/d',
    'u:secret@h2:5432',
  ])('refuse the replicas %s, without a password', (text) => {
    const message = messageFor({ DATABASE_URL: 'postgresql://u:p@h1/d', DATABASE_REPLICAS: text });
    expect(message).toMatch(/^DATABASE_REPLICAS is ".+", but must be a list of up to 16 standbys/);
    expect(message).not.toContain('secret');
  });

  it.each(['30', '500ms', '1.5s', '-1s', '8d', 's', '1 h', '99999999999s'])(
    'refuse the duration %s, with what would be right',
    (text) => {
      expect(messageFor({ DRAIN_DELAY: text })).toMatch(/^DRAIN_DELAY is ".+", but must be a duration such as 90s/);
    },
  );

  it('require GRAPHQL_DOCUMENTS for GRAPHQL_DOCUMENTS_ONLY', () => {
    expect(messageFor({ GRAPHQL_DOCUMENTS_ONLY: 'true' })).toMatch(/^GRAPHQL_DOCUMENTS_ONLY is "true", but/);
    expect(readConfig({ GRAPHQL_DOCUMENTS_ONLY: 'true', GRAPHQL_DOCUMENTS: 'a.json' }).graphql.documentsPath).toBe(
      'a.json',
    );
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80 80'],
    ['PORT', '0x50'],
    ['DATABASE_POOL', '0'],
    ['DATABASE_POOL', '1001'],
    ['DEMO', 'yes'],
    ['LOG_LEVEL', 'verbose'],
    ['LOG_ADDRESSES', 'short'],
    ['GRAPHQL_INTROSPECTION', '1'],
    ['GRAPHQL_MAX_DEPTH', '0'],
    ['GRAPHQL_MAX_COMPLEXITY', '-1'],
    ['GRAPHQL_MAX_ALIASES', '0'],
    ['GRAPHQL_MAX_TOKENS', '1e3'],
    ['GRAPHQL_MAX_FIELDS', '0'],
    ['GRAPHQL_MAX_RESPONSE_BYTES', '1023'],
    ['GRAPHQL_DOCUMENTS_ONLY', 'yes'],
    ['BAN_AFTER', '-1'],
    ['BAN_FOR', '15'],
    ['BAN_FOR', '0s'],
    ['BAN_FOR', '25h'],
    ['EVENTS_RETENTION', '23h'],
    ['EVENTS_RETENTION', '31d'],
    ['WORKERS', '0'],
    ['WORKERS', '65'],
    ['WORKERS', 'all'],
    ['METRICS_PORT', '65536'],
    ['MAX_CONNECTIONS', '0'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '101'],
    ['TRUST_PROXY', '10.0.0.1,proxy'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0.0/'],
    ['TRUST_PROXY', 'fd00::/129'],
    ['CORS_ORIGINS', 'shop.example'],
    ['CORS_ORIGINS', 'https://shop.example/'],
    ['CORS_ORIGINS', 'https://*.shop.example'],
    ['CORS_ORIGINS', 'https://shop.example,https://Other.example'],
    ['REST_PREFIX', '/'],
    ['REST_PREFIX', 'v1'],
    ['REST_PREFIX', '/v1/'],
    ['REST_PREFIX', '/v1//api'],
    ['REST_PREFIX', '/:id'],
    ['REST_PREFIX', '/..'],
    ['REST_PREFIX', '/docs'],
    ['REST_PREFIX', '/schema.graphql'],
    ['REST_PREFIX', '/graphiql/v1'],
  ])('refuse %s=%s by its name and value', (name, value) => {
    expect(messageFor({ [name]: value })).toMatch(`${name} is "${value}", but must be `);
  });

  it('takes several workers on a server only, and `auto` on the embedded database too', () => {
    const DATABASE_URL = 'postgresql://a@b/c';
    expect(readConfig({ WORKERS: '64', DATABASE_URL }).workers).toBe(64);
    expect(readConfig({ WORKERS: 'auto' }).workers).toBe('auto');
    expect(messageFor({ WORKERS: '2' })).toMatch(
      /^WORKERS is "2", but the embedded database has one process: set DATABASE_URL/,
    );
  });

  it('refuse the port of the API for the metrics', () => {
    const message = messageFor({ PORT: '4001', METRICS_PORT: '4001' });
    expect(message).toBe('METRICS_PORT is "4001", but must be another port than PORT.');
    expect(messageFor({ METRICS_PORT: '4000' })).toMatch(/^METRICS_PORT is "4000"/);
    expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort).toBe(0);
  });

  it('are named when the service may not listen there', () => {
    const refused = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' });
    const failure = listenFailure(refused, 'PORT', '127.0.0.1', 80);
    expect(failure).toBeInstanceOf(ConfigError);
    expect((failure as Error).message).toMatch(/^PORT is "80", but must be a port that this user may listen on/);
  });

  it('are not named when the machine lacks something', () => {
    const refused = Object.assign(new Error('listen EMFILE: too many open files'), { code: 'EMFILE' });
    expect(listenFailure(refused, 'PORT', '127.0.0.1', 4000)).toBe(refused);
  });

  it('name every wrong variable at once', () => {
    const lines = messageFor({ PORT: 'x', DEMO: 'x', DRAIN_DELAY: 'x', HOST: '::1' }).split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['PORT', 'DRAIN_DELAY', 'DEMO']);
  });

  it.each([
    ['EVENTS_RETENTION', '30d', { eventsRetentionSeconds: 2_592_000 }],
    ['DRAIN_TIMEOUT', '90s', { drainTimeoutSeconds: 90 }],
    ['DRAIN_TIMEOUT', '15m', { drainTimeoutSeconds: 900 }],
    ['DRAIN_TIMEOUT', '24h', { drainTimeoutSeconds: 86_400 }],
    ['DRAIN_TIMEOUT', '7d', { drainTimeoutSeconds: 604_800 }],
    ['DRAIN_TIMEOUT', '0s', { drainTimeoutSeconds: 0 }],
    ['REST_PREFIX', '/v1', { restPrefix: '/v1' }],
    ['REST_PREFIX', '/api/v1.2', { restPrefix: '/api/v1.2' }],
    ['REST_PREFIX', '/documents', { restPrefix: '/documents' }],
    ['REST_PREFIX', '/graph', { restPrefix: '/graph' }],
    ['LOG_ADDRESSES', 'network', { logAddresses: 'network' }],
    ['TRUST_PROXY', 'false', { trustProxy: false }],
    ['TRUST_PROXY', '0', { trustProxy: 0 }],
    ['TRUST_PROXY', '1', { trustProxy: 1 }],
    ['TRUST_PROXY', '10.0.0.1, fd00::/8', { trustProxy: ['10.0.0.1', 'fd00::/8'] }],
    [
      'CORS_ORIGINS',
      'https://shop.example, http://localhost:3000',
      { corsOrigins: ['https://shop.example', 'http://localhost:3000'] },
    ],
    ['CORS_ORIGINS', '*', { corsOrigins: ['*'] }],
    ['DATABASE_URL', 'postgres://a:b@c/d', { databaseUrl: 'postgres://a:b@c/d' }],
    ['DATABASE_URL', 'postgresql://c/d', { databaseUrl: 'postgresql://c/d' }],
    ['REDIS_URL', 'rediss://:a@b:6379/1', { redisUrl: 'rediss://:a@b:6379/1' }],
    ...[
      'redis+sentinel://s1/mymaster',
      'redis+sentinel://user:p%40ss@s1:26379,[fd00::2]:26380,s3/mymaster',
      'rediss+sentinel://:kkk@s1,s2/mymaster/3',
    ].map((url) => ['REDIS_URL', url, { redisUrl: url }] as const),
    ['ADMIN_API_KEY', adminKey, { adminApiKey: adminKey }],
  ])('accept %s=%s', (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected);
  });

  it.each([
    ['DATABASE_URL', 'mysql://user:kkk@host/db', /^DATABASE_URL must be .*postgresql:\/\//],
    ['DATABASE_URL', 'user:kkk@host', /^DATABASE_URL must be .*postgresql:\/\//],
    ['REDIS_URL', 'http://user:kkk@host', /^REDIS_URL must be .*redis:\/\//],
    ['REDIS_URL', 'redis://:kkk@h1,h2', /^REDIS_URL must be .*redis\+sentinel:\/\//],
    ['REDIS_URL', 'redis://:kkk@h1?db=3', /^REDIS_URL must be .*redis:\/\/user:password@host:port\/0,/],
    ['REDIS_URL', 'redis://:kkk@h1/mymaster', /^REDIS_URL must be .*redis\+sentinel:\/\//],
    ['REDIS_URL', 'redis+sentinel://:kkk@s1:26379,s2:26379', /^REDIS_URL must be .*redis\+sentinel:\/\//],
    ['REDIS_URL', 'redis+sentinel://:kkk@s1,,s2/mymaster', /^REDIS_URL must be /],
    ['REDIS_URL', 'redis+sentinel://:kkk@s1:99999/mymaster', /^REDIS_URL must be /],
    ['REDIS_URL', 'redis+sentinel://:kkk@s1/my%master', /^REDIS_URL must be /],
    ['REDIS_URL', 'redis+cluster://:kkk@n1:6379,n2:6379', /^REDIS_URL must not name a Redis Cluster/],
    ['ADMIN_API_KEY', adminKey.slice(1), /^ADMIN_API_KEY must be at least 32 /],
    ['ADMIN_API_KEY', `${adminKey} k`, /^ADMIN_API_KEY must be at least 32 /],
    ['ADMIN_API_KEY', `${adminKey}ö`, /^ADMIN_API_KEY must be at least 32 /],
  ])('refuse %s=%s without its secret', (name, value, expected) => {
    expect(messageFor({ [name]: value })).toMatch(expected);
    expect(messageFor({ [name]: value })).not.toMatch('kkk');
  });

  // A word of a password is nowhere else in a URL or a message.
  const words = ['kqz', '7391', 'Xwv_8', 'zzkk'];
  const between = ['', ' ', ...`@ / # : ? % & = , ; [ ] \\ + ' "`.split(' ')];
  const password = fc
    .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(...between)), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.flat().join(''));
  const hasPart = (text: string): boolean => words.some((word) => text.includes(word));

  /** The message for a refused value; of another, what was read beside the password. */
  const shownOf = (name: string, url: string, parse: (text: string) => unknown): string => {
    try {
      readConfig({ [name]: url });
    } catch (error) {
      expect((error as Error).message).toContain(name);
      return (error as Error).message;
    }
    return JSON.stringify(parse(url), (key, value: unknown) => (key === 'password' ? undefined : value));
  };

  it.each([
    ['DATABASE_URL', 'postgresql://user:', '@127.0.0.1:5432/store', parseDatabaseUrl],
    ['DATABASE_URL', 'postgresql://:', '@127.0.0.1/store?sslmode=disable', parseDatabaseUrl],
    ['DATABASE_URL', 'postgresql://user:', '@127.0.0.1,[::1]:5433/store', parseDatabaseUrl],
    ['DATABASE_URL', 'postgresql://user:', '@/store?host=/run/postgresql', parseDatabaseUrl],
    ['DATABASE_URL', 'postgresql:///store?user=user&host=h1&password=', '', parseDatabaseUrl],
    ['DATABASE_URL', 'postgresql://user:', '@127.0.0.1:port/store', parseDatabaseUrl],
    ['REDIS_URL', 'redis://:', '@127.0.0.1:6379/1', parseRedisUrl],
    ['REDIS_URL', 'rediss://user:', '@127.0.0.1', parseRedisUrl],
    ['REDIS_URL', 'redis+sentinel://user:', '@s1:26379,[fd00::2]:26379,s3/mymaster/3', parseRedisUrl],
    ['CORS_ORIGINS', 'https://user:', '@shop.example', () => undefined],
    ['PORT', 'postgresql://user:', '@127.0.0.1/store', () => undefined],
  ] as const)('show no part of any password, escaped or not: %s=%s…%s', (name, before, after, parse) => {
    fc.assert(
      fc.property(password, fc.boolean(), (text, isEscaped) => {
        const written = isEscaped ? encodeURIComponent(text) : text;
        expect(hasPart(shownOf(name, before + written + after, parse as (text: string) => unknown) ?? '')).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['/', '#', '?'])('say what to percent-encode when a password has %s', (character) => {
    for (const [name, scheme] of [
      ['DATABASE_URL', 'postgresql'],
      ['REDIS_URL', 'redis'],
      ['REDIS_URL', 'redis+sentinel'],
    ] as const) {
      const message = messageFor({ [name]: `${scheme}://user:12${character}kkk@host/0` });
      expect(message).toMatch(new RegExp(`^${name} has an @ after its host.*Percent-encode.* / is %2F`));
    }
  });
});

import { describe, expect, it } from '@jest/globals';

import { ConfigError, listenFailure, readConfig } from '../src/config.ts';

function complaintAbout(environment: Record<string, string>): string {
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
        maxCost: 5000,
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

  it('cannot be changed once they are read', () => {
    const config = readConfig({});
    expect(Object.isFrozen(config) && Object.isFrozen(config.graphql)).toBe(true);
  });

  it.each([
    ['90s', 90],
    ['15m', 900],
    ['24h', 86_400],
    ['7d', 604_800],
    ['0s', 0],
  ])('read the duration %s', (text, seconds) => {
    expect(readConfig({ DRAIN_TIMEOUT: text }).drainTimeoutSeconds).toBe(seconds);
  });

  it.each(['30', '500ms', '1.5s', '-1s', '8d', 's', '1 h', '99999999999s'])(
    'refuse the duration %s and say what would be right',
    (text) => {
      expect(complaintAbout({ DRAIN_DELAY: text })).toMatch(/^DRAIN_DELAY is ".+", but must be a duration such as 90s/);
    },
  );

  it('want a list where only its operations are offered', () => {
    expect(complaintAbout({ GRAPHQL_DOCUMENTS_ONLY: 'true' })).toMatch(/^GRAPHQL_DOCUMENTS_ONLY is "true", but/);
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
    ['GRAPHQL_INTROSPECTION', '1'],
    ['GRAPHQL_MAX_DEPTH', '0'],
    ['GRAPHQL_MAX_COST', '-1'],
    ['GRAPHQL_MAX_ALIASES', '0'],
    ['GRAPHQL_MAX_TOKENS', '1e3'],
    ['GRAPHQL_MAX_FIELDS', '0'],
    ['GRAPHQL_MAX_RESPONSE_BYTES', '1023'],
    ['GRAPHQL_DOCUMENTS_ONLY', 'yes'],
    ['BAN_AFTER', '-1'],
    ['BAN_FOR', '15'],
    ['BAN_FOR', '0s'],
    ['BAN_FOR', '25h'],
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
    ['CORS_ORIGINS', 'https://shop.example,https://Other.example'],
    ['REST_PREFIX', '/'],
    ['REST_PREFIX', 'v1'],
    ['REST_PREFIX', '/v1/'],
    ['REST_PREFIX', '/v1//api'],
    ['REST_PREFIX', '/:id'],
    ['REST_PREFIX', '/..'],
    ['REST_PREFIX', '/docs'],
    ['REST_PREFIX', '/graphiql/v1'],
  ])('refuse %s=%s by its name and value', (name, value) => {
    expect(complaintAbout({ [name]: value })).toMatch(`${name} is "${value}", but must be `);
  });

  it.each(['/v1', '/api/v1.2', '/documents', '/graph'])('take %s for REST_PREFIX', (text) => {
    expect(readConfig({ REST_PREFIX: text }).restPrefix).toBe(text);
  });

  it('have LOG_LEVEL as one of a list', () => {
    expect(complaintAbout({ LOG_LEVEL: 'verbose' })).toMatch(/must be one of fatal, .*, silent\.$/);
  });

  it('give the metrics no port that is taken by the API already', () => {
    const complaint = complaintAbout({ PORT: '4001', METRICS_PORT: '4001' });
    expect(complaint).toBe('METRICS_PORT is "4001", but must be another port than PORT.');
    expect(complaintAbout({ METRICS_PORT: '4000' })).toMatch(/^METRICS_PORT is "4000"/);
    expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort).toBe(0);
  });

  it('are named when the service may not listen there', () => {
    const refused = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' });
    const failure = listenFailure(refused, 'PORT', '127.0.0.1', 80);
    expect(failure).toBeInstanceOf(ConfigError);
    expect((failure as Error).message).toMatch(/^PORT is "80", but must be a port that this user may listen on/);
  });

  it('are not blamed for what the machine has run out of', () => {
    const refused = Object.assign(new Error('listen EMFILE: too many open files'), { code: 'EMFILE' });
    expect(listenFailure(refused, 'PORT', '127.0.0.1', 4000)).toBe(refused);
  });

  it('name every wrong variable at once', () => {
    const lines = complaintAbout({ PORT: 'x', DEMO: 'x', DRAIN_DELAY: 'x', HOST: '::1' }).split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['PORT', 'DEMO', 'DRAIN_DELAY']);
  });

  it('take a PostgreSQL URL only, and never repeat its password', () => {
    expect(readConfig({ DATABASE_URL: 'postgres://a:b@c/d' }).databaseUrl).toBe('postgres://a:b@c/d');
    expect(readConfig({ DATABASE_URL: 'postgresql://c/d' }).databaseUrl).toBe('postgresql://c/d');
    for (const url of ['mysql://user:hunter2@host/db', 'user:hunter2@host']) {
      const complaint = complaintAbout({ DATABASE_URL: url });
      expect(complaint).toMatch(/^DATABASE_URL must be .*postgresql:\/\//);
      expect(complaint).not.toMatch('hunter2');
    }
  });

  it.each([
    ['false', false],
    ['0', 0],
    ['1', 1],
    ['10.0.0.1, fd00::/8', ['10.0.0.1', 'fd00::/8']],
  ])('read TRUST_PROXY=%s', (text, trustProxy) => {
    expect(readConfig({ TRUST_PROXY: text }).trustProxy).toEqual(trustProxy);
  });

  it('read the list of CORS_ORIGINS', () => {
    const origins = ['https://shop.example', 'http://localhost:3000', '*'];
    expect(readConfig({ CORS_ORIGINS: origins.join(', ') }).corsOrigins).toEqual(origins);
  });

  it('take an administrator key of 32 characters or more, and never repeat it', () => {
    const key = 'k'.repeat(32);
    expect(readConfig({ ADMIN_API_KEY: key }).adminApiKey).toBe(key);
    for (const bad of [key.slice(1), `${key} k`, `${key}ö`]) {
      const complaint = complaintAbout({ ADMIN_API_KEY: bad });
      expect(complaint).toMatch(/^ADMIN_API_KEY must be at least 32 /);
      expect(complaint).not.toMatch('kkk');
    }
  });

  it('take a Redis URL only, and never repeat its password', () => {
    expect(readConfig({ REDIS_URL: 'rediss://:a@b:6379/1' }).redisUrl).toBe('rediss://:a@b:6379/1');
    const complaint = complaintAbout({ REDIS_URL: 'http://user:hunter2@host' });
    expect(complaint).toMatch(/^REDIS_URL must be .*redis:\/\//);
    expect(complaint).not.toMatch('hunter2');
  });
});

import { describe, expect, it } from '@jest/globals';

import { ConfigError, readConfig } from '../src/config.ts';

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
      graphql: { introspection: true, maxDepth: 15, maxCost: 5000, maxAliases: 50, maxTokens: 2000 },
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
});

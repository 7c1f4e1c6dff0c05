import { mock } from 'node:test';

import { describe, expect, it } from '@jest/globals';

import { unavailable } from '../../src/domain/errors.ts';
import type { HealthOptions } from '../../src/http/observe/health.ts';
import { startHttp } from '../http/http-harness.ts';

type Findings = Awaited<ReturnType<HealthOptions['checkReady']>>;

let check: HealthOptions['checkReady'] = async () => ({});
let isDraining = false;

const http = await startHttp({ checkReady: () => check(), isDraining: () => isDraining, checkEveryMillis: 0 });

describe('/readyz', () => {
  const ready = (query = '') => http.server.inject(`/readyz${query}`);

  it('is 200 while the check passes, and never stored', async () => {
    check = async () => ({});
    const response = await ready();
    expect([response.statusCode, response.json()]).toEqual([200, { status: 'ready' }]);
    expect(response.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['a lost store', unavailable(new Error('connect ECONNREFUSED 10.0.0.7'))],
    ['a bug', new TypeError('password hunter2')],
  ])('is 503 with Retry-After and safe words for %s', async (_what, error) => {
    check = () => Promise.reject(error);
    const response = await ready();
    expect(response.statusCode).toBe(503);
    expect(response.json()).toEqual({ status: 'unavailable', reasons: [expect.stringMatching(/^The store is not/)] });
    expect(response.body).not.toMatch(/10\.0\.0\.7|hunter2/);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('is 503 after two seconds of silence, and asks again the next time', async () => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() });
    try {
      const asked = Promise.withResolvers<void>();
      check = () => {
        asked.resolve();
        return Promise.withResolvers<never>().promise;
      };
      const response = ready();
      await asked.promise;
      mock.timers.tick(2_000);
      expect((await response).json()).toMatchObject({ reasons: ['The store takes too long to respond.'] });
      check = async () => ({});
      expect((await ready()).statusCode).toBe(200);
    } finally {
      mock.timers.reset();
    }
  });

  it('checks at most once a second, for any client', async () => {
    const counted = mock.fn(async () => ({}));
    const other = await startHttp({ checkReady: counted, isDraining: () => false });
    for (let count = 0; count < 20; count += 1) expect((await other.server.inject('/readyz')).statusCode).toBe(200);
    expect(counted.mock.callCount()).toBeLessThanOrEqual(3);
  });

  it('checks once for any number of simultaneous questions', async () => {
    const gate = Promise.withResolvers<object>();
    const slow = mock.fn(() => gate.promise);
    check = slow;
    const responses = Promise.all(Array.from({ length: 20 }, () => ready()));
    setImmediate(gate.resolve, {});
    expect((await responses).every(({ statusCode }) => statusCode === 200)).toBe(true);
    expect(slow.mock.callCount()).toBe(1);
  });

  it.each([
    ['nothing', {}, false],
    ['the database', { database: 'The database takes no writes.' }, false],
    ['migrations', { migrations: 'Migrations are missing in the database: 1.' }, false],
    ['all but the start', { database: 'The disk of the database is full.', migrations: 'One is missing.' }, true],
  ])('lists its checks and leaves any of them out, where %s fails', async (_what, findings: Findings, drains) => {
    check = async () => findings;
    isDraining = drains;
    const reasons = { draining: drains ? 'The service is shutting down.' : undefined, ...findings };
    const names = ['started', 'draining', 'database', 'migrations'] as const;
    for (let choice = 0; choice < 2 ** names.length; choice += 1) {
      const excluded = names.filter((_name, bit) => (choice >> bit) % 2 === 1);
      const query = excluded.map((name) => `exclude=${name}`).join('&');
      const failed = names.flatMap((name) =>
        excluded.includes(name) ? [] : ({ started: [], ...reasons }[name] ?? []),
      );
      const status = failed.length === 0 ? 200 : 503;
      const response = await ready(`?${query}`);
      expect([response.statusCode, response.json()]).toEqual([
        status,
        failed.length === 0 ? { status: 'ready' } : { status: 'unavailable', reasons: failed },
      ]);
      const verbose = await ready(`?verbose&${query}`);
      const lines = names.map((name) => {
        if (excluded.includes(name)) return `[+]${name} excluded: ok\n`;
        return name !== 'started' && reasons[name] !== undefined ? `[-]${name} failed\n` : `[+]${name} ok\n`;
      });
      expect([verbose.statusCode, verbose.body]).toEqual([status, lines.join('')]);
      expect(verbose.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
    isDraining = false;
  });

  it('says which of the checks to leave out there are not', async () => {
    check = async () => ({});
    const { statusCode, body } = await ready('?verbose&exclude=databse&exclude=migrations');
    expect([statusCode, body.split('\n').slice(3)]).toEqual([
      200,
      ['[+]migrations excluded: ok', 'warn: no checks to exclude are called "databse"', ''],
    ]);
  });

  it('waits for no silent database that is left out, and goes by the migrations that were seen last', async () => {
    const migrations = 'Migrations are missing in the database: 1.';
    for (const [seen, status] of [[{}, 200] as const, [{ migrations }, 503] as const]) {
      check = async () => seen;
      await ready();
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        const asked = Promise.withResolvers<void>();
        check = () => {
          asked.resolve();
          return Promise.withResolvers<never>().promise;
        };
        const response = ready('?exclude=database');
        await asked.promise;
        mock.timers.tick(500);
        expect((await response).statusCode).toBe(status);
        mock.timers.tick(2_000);
        expect((await ready('?exclude=database')).statusCode).toBe(status);
      } finally {
        mock.timers.reset();
      }
    }
  });

  it('leaves /healthz alone while the service drains', async () => {
    isDraining = true;
    expect((await http.server.inject('/healthz')).statusCode).toBe(200);
    isDraining = false;
  });
});

describe('the public pages', () => {
  it('redirect a browser from / to the explorer, and give other clients the addresses', async () => {
    const browser = await http.server.inject({ url: '/', headers: { accept: 'text/html,*/*' } });
    expect([browser.statusCode, browser.headers.location]).toEqual([302, '/graphiql']);
    expect((await http.server.inject('/')).json()).toMatchObject({ graphql: '/graphql' });
  });

  it('keep robots out and have an icon', async () => {
    expect((await http.server.inject('/robots.txt')).body).toBe('User-agent: *\nDisallow: /\n');
    expect((await http.server.inject('/favicon.ico')).headers['content-type']).toBe('image/svg+xml');
  });

  it('are a plain 404 where something below them is missing, and a plain 405 for another method', async () => {
    const missing = await http.server.inject('/robots.txt/below');
    expect([missing.statusCode, missing.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
    const wrong = await http.server.inject({ method: 'POST', url: '/healthz' });
    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(wrong.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it('have an HTML error page for a browser only where the server is given one', async () => {
    const url = '/robots.txt/below';
    const headers = { accept: 'text/html' };
    const plain = await startHttp({ renderErrorPage: undefined });
    expect((await http.server.inject({ url, headers })).headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await plain.server.inject({ url, headers })).headers['content-type']).toBe('text/plain; charset=utf-8');
  });
});

it.each(['/', '/healthz', '/readyz', '/robots.txt', '/favicon.ico'])(
  '%s may load nothing from anywhere',
  async (url) => {
    const { server } = await startHttp();
    const { headers } = await server.inject(url);
    expect(headers['content-security-policy']).toBe("default-src 'none'");
  },
);

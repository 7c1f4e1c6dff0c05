import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { readConfig } from '../../src/settings/config.ts';
import { parseDatabaseUrl } from '../../src/settings/database-url.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const garbage = join(directory, 'garbage.pem');
writeFileSync(garbage, 'not a certificate');

describe('a DATABASE_URL', () => {
  it.each([
    ['postgresql://me@[::1]:5433/store', { host: '::1', port: 5433, user: 'me', database: 'store' }],
    ['postgres://me@/store?host=/run/postgresql', { host: '/run/postgresql', database: 'store' }],
    ['postgresql://%2Frun%2Fpostgresql/store', { host: '/run/postgresql', database: 'store' }],
    [
      'postgresql://m%40e:p%3Aa%2Fs%3Fs%20w@db/my%20store',
      { user: 'm@e', password: 'p:a/s?s w', database: 'my store' },
    ],
    ['postgresql://db/store?application_name=a%20b', { application_name: 'a b' }],
    ['postgresql://db/store?options=-c%20search_path%3Dpets', { options: '-c search_path=pets' }],
    ['postgresql://db/store?connect_timeout=3', { connectTimeoutMillis: 3000 }],
  ])('is understood as pg does: %s', (url, expected) => {
    expect(parseDatabaseUrl(url)).toMatchObject(expected);
  });

  it.each([
    ['', undefined],
    ['?sslmode=disable', false],
    ['?sslmode=no-verify', { rejectUnauthorized: false }],
    ['?ssl=no-verify', { rejectUnauthorized: false }],
    ['?ssl=true', true],
    ['?sslmode=require', {}],
    ['?sslmode=verify-ca', {}],
    ['?sslmode=verify-full', {}],
    ['?uselibpqcompat=true&sslmode=require', { rejectUnauthorized: false }],
    ['?uselibpqcompat=true&sslmode=verify-full', {}],
  ])('says with %s how TLS is used', (query, ssl) => {
    expect(parseDatabaseUrl(`postgresql://db/store${query}`).ssl).toEqual(ssl);
  });

  it.each([
    ['?schema=x', '"schema"'],
    ['?target_session_attrs=any', 'target_session_attrs=any'],
    ['?target_session_attrs=prefer-standby', 'target_session_attrs=prefer-standby'],
    ['?load_balance_hosts=yes', 'load_balance_hosts=yes'],
    ['?sslmode=prefer', 'sslmode=prefer'],
    ['?sslmode=allow', 'sslmode=allow'],
    ['?uselibpqcompat=true&sslmode=prefer', 'sslmode=prefer'],
    ['?sslmode=verify-full&sslmode=disable', 'sslmode more than once'],
    ['?ssl=true&sslmode=disable', 'ssl and sslmode'],
    ['?sslcert=/x', 'sslcert and sslkey'],
    ['?sslrootcert=/no/such/file', 'sslrootcert=/no/such/file'],
    [`?sslrootcert=${garbage}`, 'no certificate in PEM form'],
    [`?sslcert=${garbage}&sslkey=${garbage}`, 'can not be used'],
    ['?connect_timeout=soon', 'connect_timeout=soon'],
    ['?sslmode=disable&sslnegotiation=direct', 'sslnegotiation=direct'],
  ])('is refused with %s, by name and without the password', (query, name) => {
    const url = `postgresql://me:secret@db/store${query}`;
    expect(() => readConfig({ DATABASE_URL: url })).toThrow(name);
    expect(() => readConfig({ DATABASE_URL: url })).not.toThrow(/secret/);
  });

  it.each(['mysql://db/store', 'db/store', 'postgresql://a b:c:d:e'])('is refused when it is none: %s', (url) => {
    expect(() => readConfig({ DATABASE_URL: url })).toThrow(/DATABASE_URL must be the URL of a PostgreSQL server/);
  });

  it.each([
    [
      'postgresql://me:p,w@h1:5433,h2,[::1]:5434/store',
      [{ host: 'h1', port: 5433 }, { host: 'h2' }, { host: '::1', port: 5434 }],
    ],
    [
      'postgresql:///store?host=/run/a,db&port=5433',
      [
        { host: '/run/a', port: 5433 },
        { host: 'db', port: 5433 },
      ],
    ],
    [
      'postgresql:///store?host=a,b&port=1,2',
      [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    ],
  ])('may name several hosts, and then needs one that takes writes: %s', (url, hosts) => {
    expect(parseDatabaseUrl(url)).toMatchObject({ hosts, targetSession: 'read-write', database: 'store' });
  });

  it('says which of its hosts are suitable, and whether their order counts', () => {
    const url = 'postgresql://h1,h2/store?target_session_attrs=primary&load_balance_hosts=random';
    expect(parseDatabaseUrl(url)).toMatchObject({ targetSession: 'primary', isBalanced: true });
    expect(parseDatabaseUrl('postgresql://h1/store').targetSession).toBeUndefined();
  });

  it.each([
    ['h1,,h2/store', 'one of them is empty'],
    ['h1,h2/store?host=h3', 'as a parameter too'],
    ['/store?host=a,b&port=1,2,3', 'as many ports as hosts'],
  ])('is refused when its hosts do not fit together: %s', (rest, reason) => {
    expect(() => readConfig({ DATABASE_URL: `postgresql://${rest}` })).toThrow(reason);
  });
});

describe('the variables of libpq', () => {
  const urlWith = (url: string, environment: Record<string, string>) =>
    readConfig({ DATABASE_URL: url, ...environment }).databaseUrl;

  it('stand for what the URL leaves out', () => {
    const environment = { PGSSLMODE: 'no-verify', PGOPTIONS: '-c work_mem=8MB -c jit=off', PGCONNECT_TIMEOUT: '3' };
    expect(parseDatabaseUrl(urlWith('postgresql://db/store', environment) ?? '')).toMatchObject({
      ssl: { rejectUnauthorized: false },
      options: '-c work_mem=8MB -c jit=off',
      connectTimeoutMillis: 3000,
    });
    const full = 'postgresql://db/store?sslmode=disable&options=-c%20jit=on&connect_timeout=1';
    expect(urlWith(full, environment)).toBe(full);
    expect(urlWith('postgresql://db/store?ssl=0', { PGSSLMODE: 'requier' })).toBe('postgresql://db/store?ssl=0');
    expect(urlWith('postgresql://db/store', { PGSSLMODE: '' })).toBe('postgresql://db/store');
  });

  it.each([
    [{ PGSSLMODE: 'allow' }, 'PGSSLMODE is "allow", but must be one of disable'],
    [{ PGSSLNEGOTIATION: 'no' }, 'PGSSLNEGOTIATION is "no", but must be'],
    [{ PGSSLNEGOTIATION: 'direct', PGSSLMODE: 'disable' }, 'With PGSSLMODE, PGSSLNEGOTIATION of the environment: '],
    [{ PGCLIENT_ENCODING: 'latin1' }, 'PGCLIENT_ENCODING is "latin1", but must be utf8'],
    [{ PGCONNECT_TIMEOUT: 'soon' }, 'PGCONNECT_TIMEOUT is "soon", but must be a whole number'],
    [{ PGPORT: '0x10' }, 'PGPORT is "0x10", but must be a port'],
    [{ PGHOST: 'a,b' }, 'PGHOST is "a,b", but must be one host'],
  ])('are refused like the parameters, by their own names: %p', (environment, message) => {
    expect(() => urlWith('postgresql:///store', environment)).toThrow(message);
  });

  it('may be anything where the URL says it', () => {
    const url = 'postgresql://db:5432/store?connect_timeout=1';
    expect(urlWith(url, { PGPORT: 'none', PGHOST: 'a,b', PGCONNECT_TIMEOUT: 'soon' })).toBe(url);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { readConfig } from '../../src/config.ts';
import { parseDatabaseUrl } from '../../src/database/connection-config.ts';
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
    ['postgresql://db/store', { fallback_application_name: 'petstore-gateway' }],
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
    ['?target_session_attrs=read-write', '"target_session_attrs"'],
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

  it('does not name several hosts', () => {
    expect(() => readConfig({ DATABASE_URL: 'postgresql://a,b/store' })).toThrow(/several hosts/);
  });
});

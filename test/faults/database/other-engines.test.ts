import { expect, it } from '@jest/globals';

import { Service } from '../../support/service.ts';
import { startCluster } from '../../support/started-cluster.ts';

const cluster = await startCluster();

it.each([
  ['CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2026/05/01 10:00:00, go1.23.7)', 'CockroachDB'],
  ['PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17', 'YB'],
  ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.60353', 'Redshift'],
])(
  'a start on a server that says it is %s is refused in a sentence, before anything is changed',
  async (says, name) => {
    const database = new URL(cluster.url).pathname.slice(1) || 'postgres';
    await cluster.sql(`
    create schema if not exists other;
    create or replace function other.version() returns text language sql as $$ select '${says}' $$;
    alter database "${database}" set search_path = other, pg_catalog, public`);
    const service = new Service({ DATABASE_URL: cluster.url });
    expect(await service.ended()).toBe(1);
    expect(service.output).toMatch(
      new RegExp(`no PostgreSQL, but says that it is .*${name}.*PostgreSQL 15 or newer is needed`),
    );
    expect(service.output).not.toMatch(/^ +at /m);
    expect(await cluster.sql(`select from pg_catalog.pg_tables where schemaname = 'public'`)).toEqual([]);
  },
);

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { connect } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { startTestApp } from '../../support/test-app.ts';

let socketDirectory: string;

/** A server that listens on IPv4, IPv6 and a Unix socket. */
const cluster = await startCluster((data) => {
  socketDirectory = data;
  const settings = `listen_addresses = '127.0.0.1, ::1'\nunix_socket_directories = '${data}'\n`;
  appendFileSync(join(data, 'postgresql.conf'), settings);
});
const observer = await connect(cluster.url);

/** What the server says of the connections of a service that reads, counts and writes with this URL. */
async function connectionsWith(url: string): Promise<Record<string, unknown>[]> {
  const service = await startTestApp({ DATABASE_URL: url, DATABASE_POOL: '6' });
  const operations = [
    '{ pets(first: 1) { totalCount edges { node { id } } } }',
    'mutation { createCategory(input: { name: "Dogs" }) { category { id } } }',
  ];
  const responses = await Promise.all(operations.flatMap((each) => [service.graphql(each), service.graphql(each)]));
  expect(responses.map(({ status, errors }) => [status, errors])).toEqual(responses.map(() => [200, []]));
  const { rows } = await observer.query(
    `select distinct host(client_addr) as address, application_name as name from pg_stat_activity
     where pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
  await service.close();
  return rows;
}

it('an IPv6 address', async () => {
  const url = `postgresql://postgres:petstore@[::1]:${cluster.port}/postgres`;
  expect(await connectionsWith(url)).toEqual([{ address: '::1', name: 'petstore-gateway' }]);
});

it('the directory of a Unix socket, and a name of the application', async () => {
  const parameters = new URLSearchParams({ host: socketDirectory, application_name: 'über & 100 %' });
  const url = `postgresql://postgres:petstore@localhost:${cluster.port}/postgres?${parameters.toString()}`;
  expect(await connectionsWith(url)).toEqual([{ address: null, name: expect.stringMatching(/ & 100 %$/) }]);
});

it('options of the session hold on every connection, those that migrate included', async () => {
  await observer.query('create database other');
  const url = new URL(cluster.url);
  url.pathname = 'other';
  const client = await connect(url.href);
  await client.query('create schema elsewhere');
  url.search = new URLSearchParams({ options: '-c search_path=elsewhere', connect_timeout: '60' }).toString();
  await connectionsWith(url.href);
  const { rows } = await client.query(`select schemaname from pg_tables where tablename in ('pets', 'orders')`);
  expect(rows).toEqual([{ schemaname: 'elsewhere' }, { schemaname: 'elsewhere' }]);
});

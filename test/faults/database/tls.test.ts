import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { explainFailure } from '../../../src/settings/failed-start.ts';
import { runSql } from '../../support/postgres-client.ts';
import { startCluster } from '../../support/started-cluster.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startTestApp } from '../../support/test-app.ts';

const directory = temporaryDirectory();

const file = (name: string): string => join(directory, name);

function openssl(options: string): void {
  execFileSync('openssl', options.split(' '), { cwd: directory, stdio: 'ignore' });
}

const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';

function createAuthority(name: string): void {
  openssl(`req -x509 ${newKey} -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.crt`);
}

function createCertificate(name: string, subject: string): void {
  writeFileSync(file('names.cnf'), 'subjectAltName=IP:127.0.0.1\n');
  openssl(`req ${newKey} -subj /CN=${subject} -keyout ${name}.key -out ${name}.csr`);
  const authority = '-CA authority.crt -CAkey authority.key -CAcreateserial';
  openssl(`x509 -req -in ${name}.csr ${authority} -days 2 -extfile names.cnf -out ${name}.crt`);
}

/** A server that takes connections over TLS only, and only with a certificate of its own authority. */
for (const name of ['authority', 'stranger']) createAuthority(name);
createCertificate('server', 'petstore-database');
createCertificate('client', 'postgres');
const cluster = await startCluster((data) => {
  for (const name of ['server.crt', 'server.key', 'authority.crt']) copyFileSync(file(name), join(data, name));
  chmodSync(join(data, 'server.key'), 0o600);
  appendFileSync(join(data, 'postgresql.conf'), `\nssl = on\nssl_ca_file = 'authority.crt'\n`);
  writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-full\n');
});

function urlWith({ host = '127.0.0.1', ...parameters }: Record<string, string>): string {
  return `${cluster.url.replace('127.0.0.1', host)}?${new URLSearchParams(parameters).toString()}`;
}

const certificates = (): Record<string, string> => ({
  sslrootcert: file('authority.crt'),
  sslcert: file('client.crt'),
  sslkey: file('client.key'),
});

it.each<Record<string, string>>([
  { sslmode: 'verify-full' },
  { sslmode: 'require' },
  // These two don't verify who the server is.
  { sslmode: 'no-verify', sslrootcert: '' },
  { sslmode: 'require', uselibpqcompat: 'true', sslrootcert: '' },
])('with %j every connection is encrypted', async (mode) => {
  const parameters = Object.entries({ ...certificates(), ...mode, application_name: 'over-tls' });
  const service = await startTestApp({
    DATABASE_URL: urlWith(Object.fromEntries(parameters.filter(([, value]) => value !== ''))),
    DATABASE_POOL: '6',
  });
  const reads = Array.from({ length: 30 }, () =>
    service.graphql('{ pets(first: 1) { totalCount edges { node { id } } } }'),
  );
  const writes = Array.from({ length: 8 }, (_, n) =>
    service.graphql(`mutation { createCategory(input: { name: "C${n}" }) { category { id } } }`),
  );
  for (const { status } of await Promise.all([...reads, ...writes])) expect(status).toBe(200);
  const rows = await runSql(
    urlWith({ ...certificates(), sslmode: 'verify-full', application_name: 'observer' }),
    `select ssl, count(*)::int from pg_stat_ssl join pg_stat_activity using (pid)
     where application_name = 'over-tls' group by ssl`,
  );
  await service.close();
  expect(rows).toEqual([{ ssl: true, count: expect.any(Number) }]);
  // Shared ones and exclusive ones; how many depends on how fast each responds.
  expect(rows[0]!['count']).toBeGreaterThan(1);
});

it.each([
  [
    'the certificate of another authority',
    () => ({ ...certificates(), sslrootcert: file('stranger.crt'), sslmode: 'verify-full' }),
    /TLS to the database failed: .*certificate.*\nSee the section "TLS"/,
  ],
  [
    'a name that the certificate lacks',
    () => ({ ...certificates(), sslmode: 'verify-full', host: 'localhost' }),
    /TLS to the database failed: .*certificate.*\nSee the section "TLS"/,
  ],
  [
    'no certificate of its own',
    () => ({ sslrootcert: file('authority.crt'), sslmode: 'verify-full' }),
    /certificate\nSee the section "TLS"/,
  ],
  ['no TLS', () => ({ sslmode: 'disable' }), /no pg_hba.conf entry.+no encryption\n.*with TLS/],
])('with %s it does not start, and says so, and what to do', async (_what, parameters, complaint) => {
  const start = startTestApp({ DATABASE_URL: urlWith(parameters()) });
  const output = await start.then(() => 'It has started.', explainFailure);
  expect(output).toMatch(complaint);
  expect(output.split('\n')).toHaveLength(2);
  expect(output).not.toContain('petstore@');
});

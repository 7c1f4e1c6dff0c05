import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { explainFailure } from '../../src/settings/failed-start.ts';
import { tryLockDirectory } from '../../src/platform/embedded/directory-lock.ts';
import { RedisServer } from '../redis/redis-server.ts';
import { connect, runSql } from '../support/postgres-client.ts';
import { startCluster } from '../support/started-cluster.ts';
import { RunningCommand } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { migrateDatabase } from '../support/template-database.ts';
import { databaseDirectory } from '../support/temporary-directory.ts';
import { guideTable } from './guide.ts';

/** Of the service's own packages: this folder has others. */
type Client = Awaited<ReturnType<typeof connect>>;

const secret = 'kkk7391';

const [cluster, redis] = await Promise.all([
  startCluster((data) => {
    const known = 'host all postgres,owner,bare 127.0.0.1/32 scram-sha-256\n';
    writeFileSync(join(data, 'pg_hba.conf'), known);
    writeFileSync(
      join(data, 'postgresql.conf'),
      "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 12\n",
    );
  }),
  RedisServer.start('--requirepass', secret),
]);
const url = (user = 'owner', database = 'owned', password = secret, port = cluster.port): string =>
  `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;

for (const sql of [
  `create role owner login password '${secret}'; create role bare login password '${secret}'`,
  'create database owned owner owner',
  'create database bare',
  'create database granted',
  'create database locked owner owner',
]) {
  await runSql(cluster.url, sql);
}
await runSql(cluster.url.replace(/postgres$/, 'granted'), 'grant create on schema public to bare');
const locked = url('owner', 'locked');
await migrateDatabase(locked, '');
/** Of a transaction that has locked a table of the database `locked`. */
const holder = await connect({ connectionString: locked, application_name: 'report' });
await holder.query('begin; lock table api_keys');
/** What a start on that says, which ends after twenty seconds. */
const lockedStart = outputOf({ DATABASE_URL: locked });
const silent = createServer().listen(0, '127.0.0.1').unref();
await once(silent, 'listening');
/** Of a server that accepts connections and says nothing. */
const silentPort = (silent.address() as AddressInfo).port;

/** For each row of the guide's troubleshooting its messages, in which … stands for any text, and whether one was seen. */
const rows = guideTable('Troubleshooting').map(([messages = '']) => ({
  messages,
  patterns: [...messages.matchAll(/`([^`]+)`/g)].map(
    ([, text = '']) => new RegExp(text.replaceAll(/[()[\].*+?^$|\\]/g, '\\$&').replaceAll('…', '.*')),
  ),
  isSeen: false,
}));

/** What a start has said: no secret and no stack, and a message that the guide has. */
function noted(output: string): string {
  expect(output).not.toContain(secret);
  expect(output).not.toMatch(/^ +at /m);
  const found = rows.filter(({ patterns }) => patterns.some((pattern) => pattern.test(output)));
  for (const row of found) row.isSeen = true;
  expect([output, found.length > 0]).toEqual([output, true]);
  return output;
}

/** What a process with these settings would say; in this one, which has loaded the service already. */
async function outputOf(settings: Readonly<Record<string, string>>): Promise<string> {
  let notices = '';
  const onNotice = (sentence: string): void => void (notices += `${sentence}\n`);
  const start = async (): Promise<string> => {
    const app = await createApp(readConfig({ LOG_LEVEL: 'silent', PORT: '0', ...settings }), { onNotice });
    try {
      await app.listen();
    } finally {
      await app.close();
    }
    return '';
  };
  const failure = await start().catch(explainFailure);
  return noted(notices + failure);
}

/** As it is shown. */
const shown = (text: string): string => text.replace(/:[^:@]*@/, '@').replace(/\?.*/, '');

test.each([
  ['nothing listens', () => url('owner', 'owned', secret, 1), /connect ECONNREFUSED 127\.0\.0\.1:1\nNothing listens/],
  [
    'the host is unknown',
    () => url().replace('127.0.0.1', 'db.invalid'),
    /getaddrinfo E\w+ db\.invalid\n.*correct its name/,
  ],
  [
    'nothing replies',
    () => `${url('owner', 'owned', secret, silentPort)}?connect_timeout=1`,
    /did not respond within 1 s\.\nNothing has replied there: check host and port/,
  ],
  [
    'the password is wrong',
    () => url('owner', 'owned', `${secret}x`),
    /failed for user "owner"\nCorrect the user or the password\. Percent-encode/,
  ],
  [
    'the user is not let in',
    () => url('nobody'),
    /no pg_hba\.conf entry for host .*\nThe server's pg_hba\.conf must let/,
  ],
  [
    'there is no such database',
    () => url('owner', 'missing'),
    /database "missing" does not exist\nCreate it first\. .*"Roles"/,
  ],
  [
    'the role has no rights',
    () => url('bare', 'bare'),
    /permission denied for schema public\nThis role sees no tables of the service, .* `migrate` as the role .*"Roles"/,
  ],
  [
    'the role may create tables, but no extension',
    () => url('bare', 'granted'),
    /permission denied to create extension "pg_trgm"[^]*The owner .*"Roles"/,
  ],
  [
    'the server has no TLS',
    () => `${url()}?sslmode=verify-full`,
    /TLS to the database failed: .*\nSee the section "TLS"/,
  ],
] as const)('names the setting, what was tried, and the next step when %s', async (_what, urlOf, expected) => {
  const output = await outputOf({ DATABASE_URL: urlOf() });
  expect(output.slice(0, output.indexOf(': ', 16))).toBe(`DATABASE_URL (${shown(urlOf())})`);
  expect(output).toMatch(expected);
});

// For the others see `faults/unusable-settings.test.ts`.
test('the command for keys says it, too', async () => {
  const DATABASE_URL = url('owner', 'missing');
  const failing = new RunningCommand('node dist/src/cli/keys.js list', { DATABASE_URL });
  expect(await failing.ended()).toBe(1);
  expect(noted(failing.output)).toContain(
    `DATABASE_URL (${shown(DATABASE_URL)}): database "missing" does not exist\nCreate it first`,
  );
});

test('names the setting that is wrong, misspelled or unusable here, and a password that is not percent-encoded', async () => {
  expect(await outputOf({ PORT: '70000' })).toMatch(/^PORT is "70000", but must be a whole number/);
  expect(await outputOf({ DATABASE_URL: url().replace(secret, `12/${secret}`) })).toMatch(/^DATABASE_URL has an @/);
  // Not in this process, whose USER would be the user.
  const unnamed = new Service({ DATABASE_URL: url().replace(/owner.*@/, '') });
  expect(await unnamed.ended()).toBe(1);
  expect(noted(unnamed.output)).toMatch(/no PostgreSQL user name .*\nName the user: postgresql:/);
  const command = "sh -c 'ulimit -n 500 && exec node dist/src/main.js'";
  const first = await Service.start({ DATABASE_URL: url(), DATBASE_URL: url() }, { command });
  expect(noted(first.output)).toMatch(/^The variable DATBASE_URL is none .* is DATABASE_URL meant\?$/m);
  expect(first.output).toMatch(/^MAX_CONNECTIONS is 10000, but the system lets this process open 500 files/m);
  expect(await outputOf({ DATABASE_URL: url(), PORT: String(first.port) })).toMatch(/^PORT is/);
  await first.stop();
  const directory = databaseDirectory();
  const lock = tryLockDirectory(directory);
  expect(await outputOf({ DATA_DIR: directory })).toMatch(/^The data directory .* is in use/);
  lock?.release();
});

test('says which statement waits, and for whom, when somebody has locked a table', async () => {
  const output = await lockedStart;
  const [session] = (await holder.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
  await holder.end();
  const waits = `"lock table api_keys in access share mode"`;
  const who = `process ${session!.pid} of the database server \\(report, in a transaction since [-: 0-9]+ UTC\\)`;
  expect(output).toMatch(new RegExp(`^The start waits for a lock, 10 times: ${waits} for ${who}\\.$`, 'm'));
  const end = `End it by select pg_terminate_backend\\(${session!.pid}\\)`;
  expect(output).toMatch(new RegExp(`: A table is locked: ${waits} has waited for ${who}\\. ${end}`));
});

test('says what to do when all connections of the server are taken', async () => {
  const clients: Client[] = [];
  const fill = async (): Promise<never> => {
    for (;;) clients.push(await connect(url()));
  };
  await expect(fill()).rejects.toMatchObject({ code: '53300' });
  expect(clients.length).toBeGreaterThan(5);
  const output = await outputOf({ DATABASE_URL: url() });
  await Promise.all(clients.map((client) => client.end()));
  expect(output).toMatch(/^DATABASE_URL \(.*\): .*\nAll connections are taken: .*max_connections.*DATABASE_POOL/);
});

test('goes on without Redis, and says why, where it looked, and what to do', async () => {
  for (const [server, tried, expected] of [
    ['redis://127.0.0.1:1', 'redis://127.0.0.1:1', /connect ECONNREFUSED 127\.0\.0\.1:1\nNothing listens there/],
    [
      redis.url.replace(secret, `${secret}x`),
      shown(redis.url),
      /WRONGPASS .*\nCorrect the user or the password\. Percent-/,
    ],
    [
      `redis://127.0.0.1:${silentPort}`,
      `redis://127.0.0.1:${silentPort}`,
      /\nNothing has replied there: check host and port/,
    ],
    [
      `redis+sentinel://user:${secret}@127.0.0.1:1/mymaster`,
      'redis+sentinel://user@127.0.0.1:1/mymaster',
      /The sentinel 127\.0\.0\.1:1: connect ECONNREFUSED .*\nNothing listens there/,
    ],
  ] as const) {
    const output = await outputOf({ DATABASE_URL: url(), REDIS_URL: server });
    const said = output.slice(0, output.indexOf('Until it can'));
    expect(said).toContain(`Redis can't be used: REDIS_URL (${tried}): `);
    expect(said).toMatch(expected);
  }
});

test('the guide has no other row for a start', () => {
  expect(rows.filter(({ isSeen }) => !isSeen)).toEqual([]);
});

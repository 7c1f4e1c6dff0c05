import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from '@jest/globals';

import { runSql } from '../support/postgres-client.ts';
import { RunningCommand } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { startCluster } from '../support/started-cluster.ts';
import { databaseDirectory } from '../support/temporary-directory.ts';

type Environment = Readonly<Record<string, string>>;

const cluster = await startCluster();

/** Every variable that the installed version of MikroORM knows. */
function variablesOfMikroOrm(): string[] {
  const folder = dirname(fileURLToPath(import.meta.resolve('@mikro-orm/core')));
  const read = (file: string): string => readFileSync(`${folder}/${file}`, 'utf8');
  const reader = read('utils/env-vars.js');
  const prefixes = new Map(
    [...reader.matchAll(/(read\d) = read\.bind\(null, [\w.]+, '(\w+)'\)/g)].map(([, name, prefix]) => [name, prefix]),
  );
  const options = [...reader.matchAll(/(read\d)\('(\w+)'/g)].map(
    ([, name, key = '']) => `${prefixes.get(name)}${key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()}`,
  );
  const others = globSync('**/*.js', { cwd: folder }).flatMap(
    (file) => read(file).match(/\bMIKRO_ORM_\w*[A-Z]\b/g) ?? [],
  );
  return [...new Set([...options, ...others])];
}

async function newDatabase(name: string): Promise<string> {
  await runSql(cluster.url, `create database ${name}`);
  return cluster.url.replace(/postgres$/, name);
}

async function outcome(command: string, environment: Environment): Promise<[unknown, string]> {
  const running = new RunningCommand(`node dist/src/${command}`, environment);
  return [await running.ended(), running.output];
}

async function succeeds(command: string, environment: Environment): Promise<string> {
  const [code, output] = await outcome(command, environment);
  expect([code, output]).toEqual([0, expect.any(String)]);
  return output;
}

/** The tables as the migrations have left them. */
function schemaOf(url: string): string {
  const schema = execFileSync('pg_dump', ['--schema-only', url], { encoding: 'utf8' });
  // Partitions of events have the date; `\restrict` has a random word.
  return schema.replaceAll(/^\\(?:un)?restrict .*$/gm, '');
}

test('no MIKRO_ORM_ variable changes the migrations, the commands or the service', async () => {
  const names = variablesOfMikroOrm();
  expect(names.length).toBeGreaterThan(40);
  expect(names).toEqual(
    expect.arrayContaining(['MIKRO_ORM_SCHEMA', 'MIKRO_ORM_MIGRATIONS_ALL_OR_NOTHING', 'MIKRO_ORM_LOG_EM_ID']),
  );
  const plain = await newDatabase('plain');
  // It says what it has done.
  expect(await succeeds('cli/migrate.js', { DATABASE_URL: plain })).toMatch(/^Migrated \S+ in \d+\.\d\d s\.$/m);
  for (const value of ['true', 'false', 'nonsense']) {
    const others = Object.fromEntries(names.map((name) => [name, value]));
    const settings = { ...others, DATABASE_URL: await newDatabase(`with_${value}`) };
    await succeeds('cli/migrate.js', settings);
    expect(schemaOf(settings.DATABASE_URL)).toBe(schemaOf(plain));
    await succeeds('cli/keys.js create --name one --plan pro', settings);
    const service = await Service.start(settings);
    const { body } = await service.graphql(
      'mutation { createApiKey(input: { name: "two", plan: PRO }) { apiKey { id } } }',
    );
    expect(body).toEqual({ data: { createApiKey: { apiKey: { id: '2' } } } });
    expect(await service.stop()).toBe(0);
  }
});

test('the embedded database reads no PG variable, nor a driver that is not there', async () => {
  const others = {
    PGSSLNEGOTIATION: 'direct',
    PGSSLMODE: 'requier',
    PGOPTIONS: '-c search_path=pg_catalog',
    PGHOST: 'nowhere.invalid',
    PGPORT: 'none',
    PGUSER: 'nobody',
    PGDATABASE: 'none',
    PGREPLICATION: 'true',
    PGCLIENT_ENCODING: 'latin1',
    NODE_PG_FORCE_NATIVE: '1',
  };
  const service = await Service.start({ ...others, DATA_DIR: databaseDirectory(), DEMO: 'off' });
  const { body } = await service.graphql('mutation { createCategory(input: { name: "Größe" }) { category { name } } }');
  expect(body).toEqual({ data: { createCategory: { category: { name: 'Größe' } } } });
  expect(await service.stop()).toBe(0);
});

test.each([
  ['PGSSLMODE', 'requier', /: PGSSLMODE is "requier", but must be one of disable, no-verify, require,/],
  ['PGSSLMODE', 'VERIFY-FULL', /: PGSSLMODE is "VERIFY-FULL", but must be one of/],
  ['PGSSLMODE', 'prefer', /: PGSSLMODE is "prefer", but must be one of/],
  ['PGSSLMODE', 'verify-full', /TLS to the database failed[^]*\nThe environment has PGSSLMODE too/],
  ['PGSSLNEGOTIATION', 'direct', /TLS connection[^]*\nThe environment has PGSSLNEGOTIATION too/],
  ['PGPORT', 'none', /: PGPORT is "none", but must be a port/],
  ['PGOPTIONS', '-c search_path=pg_catalog', /\nThe environment has PGOPTIONS too, for what DATABASE_URL leaves out/],
])('on a server %s=%s is followed or refused, by its name', async (name, value, expected) => {
  const url = await newDatabase('none').catch(() => cluster.url.replace(/postgres$/, 'none'));
  const DATABASE_URL = name === 'PGPORT' ? url.replace(/:\d+\//, '/') : url;
  const [code, output] = await outcome('main.js', { DATABASE_URL, [name]: value, PORT: '0' });
  expect([code, output]).toEqual([1, expect.stringMatching(expected)]);
  expect(output).not.toMatch(/^ +at /m);
});

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';

import { prepareDataDirectory } from '../../../src/platform/embedded/data-directory.ts';
import {
  EmbeddedPostgresInUse,
  embeddedPostgresAddress,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/platform/embedded/embedded-postgres.ts';
import { spawnChild } from '../../support/child-process.ts';
import { runSql } from '../../support/postgres-client.ts';
import { DataDirectories } from './data-directories.ts';

// Engines and processes are started several times.

const directories = new DataDirectories();
async function withEngine<T>(dataDir: string, use: (postgres: EmbeddedPostgres) => Promise<T>): Promise<T> {
  const postgres = await startEmbeddedPostgres(dataDir);
  try {
    return await use(postgres);
  } finally {
    await postgres.close();
  }
}

/** Resolves when the server has ended the connection. */
function ended(client: pg.Client): Promise<void> {
  client.on('error', () => {});
  return new Promise((resolve) => client.once('end', () => resolve()));
}

async function startWriting(
  dataDir: string,
): Promise<{ child: ChildProcess; lines: AsyncIterator<string>; errors: () => string }> {
  const script = join(import.meta.dirname, 'writing-process.ts');
  const child = spawnChild(process.execPath, ['--liftoff-only', script, dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, errors: () => errors };
}

/**
 * Reads so many acknowledged rows, kills the process while it goes on writing, and returns the last row acknowledged.
 */
async function killAfter(rows: number, dataDir: string): Promise<number> {
  const { child, lines, errors } = await startWriting(dataDir);
  const closed = once(child, 'close');
  let last = 0;
  for (let read = 0; read < rows; read += 1) last = Number((await lines.next()).value);
  child.kill('SIGKILL');
  await closed;
  expect(errors()).toBe('');
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) last = Number(line.value);
  return last;
}

describe('the embedded PostgreSQL', () => {
  it('creates a database, also where a killed process left it half done, and finds it on the next start', async () => {
    const dataDir = prepareDataDirectory(directories.empty());
    await directories.created(dataDir);
    rmSync(join(dataDir, 'postgres', 'base'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres.creating'), '');
    await withEngine(dataDir, async ({ connection }) => {
      for (const part of ['.', 'postgres', 'socket']) expect(statSync(join(dataDir, part)).mode & 0o777).toBe(0o700);
      await runSql(
        connection,
        "CREATE EXTENSION pg_trgm; CREATE TABLE pet (name text); INSERT INTO pet VALUES ('Rex')",
      );
    });
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, "SELECT name FROM pet WHERE name % 'Rexy'")).toEqual([{ name: 'Rex' }]),
    );
  });

  it('lets only its user reach the socket and the files', async () => {
    const dataDir = await directories.created();
    mkdirSync(join(dataDir, 'socket'));
    chmodSync(join(dataDir, 'socket'), 0o755);
    writeFileSync(join(dataDir, 'lock'), '', { mode: 0o644 });
    const modeOf = (name: string): number => statSync(join(dataDir, name)).mode & 0o777;
    await withEngine(dataDir, async () => expect(['socket', 'lock'].map(modeOf)).toEqual([0o700, 0o600]));
    rmSync(join(dataDir, 'lock'));
    await withEngine(dataDir, async () => expect(modeOf('lock')).toBe(0o600));
  });

  it('refuses a second engine on the directory at once, in the same process and in another', async () => {
    const dataDir = await directories.created();
    await withEngine(dataDir, async ({ connection }) => {
      await runSql(connection, 'CREATE TABLE pet (name text)');
      const refused = startEmbeddedPostgres(dataDir);
      await expect(refused).rejects.toThrow(EmbeddedPostgresInUse);
      await expect(refused).rejects.toThrow(dataDir);
      const { child, errors } = await startWriting(dataDir);
      expect(await once(child, 'exit')).toEqual([1, null]);
      expect(errors()).toContain('EmbeddedPostgresInUse');
    });
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, 'SELECT name FROM pet')).toEqual([]),
    );
  });

  it('lets another process join by the address of the directory', async () => {
    const dataDir = await directories.created();
    await withEngine(dataDir, async ({ connection }) => {
      expect(embeddedPostgresAddress(dataDir)).toEqual(connection);
    });
    await expect(runSql(embeddedPostgresAddress(dataDir), 'SELECT 1')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('puts the socket of a directory with a long path into a private one, and refuses one that was put there', async () => {
    const dataDir = await directories.created(join(directories.empty(), 'long'.repeat(30)));
    const address = embeddedPostgresAddress(dataDir);
    const { host } = address;
    try {
      symlinkSync(directories.empty(), host);
      await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow();
      expect(() => embeddedPostgresAddress(dataDir)).toThrow(host);
      rmSync(host);
      await withEngine(dataDir, async ({ connection }) => {
        expect(connection).toEqual(address);
        expect(statSync(host).mode & 0o777).toBe(0o700);
        expect(await runSql(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      });
    } finally {
      rmSync(host, { recursive: true, force: true });
    }
  });

  it('keeps every acknowledged write of a process that is killed while writing, and has said nothing on its error output', async () => {
    const dataDir = await directories.created();
    const last = await killAfter(300, dataDir);
    const [found] = await withEngine(dataDir, ({ connection }) =>
      runSql(connection, 'SELECT count(*)::int AS count, max(id) AS max FROM written'),
    );
    const { count, max } = found as { count: number; max: number };
    expect(max).toBeGreaterThanOrEqual(last);
    expect(count).toBe(max);
  });

  it('closes at once with clients connected, with a checkpoint and without what was not committed', async () => {
    const dataDir = await directories.created();
    const postgres = await startEmbeddedPostgres(dataDir);
    const idle = new pg.Client(postgres.connection);
    const busy = new pg.Client(postgres.connection);
    const ends = [idle, busy].map(ended);
    await idle.connect();
    await busy.connect();
    await busy.query('CREATE TABLE pet (id int)');
    await busy.query('BEGIN');
    await busy.query('INSERT INTO pet VALUES (1)');
    await Promise.all([postgres.close(), postgres.close()]);
    await Promise.all(ends);
    expect(existsSync(join(postgres.connection.host, '.s.PGSQL.5432'))).toBe(false);
    // The state in PostgreSQL's control file: 1 is "shut down", 6 "in production", which a crash leaves.
    expect(readFileSync(join(dataDir, 'postgres/global/pg_control')).readInt32LE(16)).toBe(1);
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, 'SELECT * FROM pet')).toEqual([]),
    );
  });

  it('reports an engine that crashes, ends its connections and can be started again', async () => {
    const dataDir = await directories.created();
    const postgres = await startEmbeddedPostgres(dataDir);
    const exit = new Promise<Error>((resolve) => postgres.onExit(resolve));
    const waiting = new pg.Client(postgres.connection);
    const end = ended(waiting);
    await waiting.connect();
    // PGlite has no COPY FROM STDIN over the wire: the engine ends over it.
    await expect(runSql(postgres.connection, 'CREATE TABLE pet (id int); COPY pet FROM STDIN')).rejects.toThrow();
    expect((await exit).message).toContain('crashed');
    await end;
    await new Promise<Error>((resolve) => postgres.onExit(resolve));
    await postgres.close();
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, 'SELECT 1 AS one')).toHaveLength(1),
    );
  });

  it('rejects the start, and gives the directory up, when the database files are unusable', async () => {
    const dataDir = await directories.created();
    await withEngine(dataDir, ({ connection }) => runSql(connection, 'CREATE TABLE pet (name text)'));
    const control = join(dataDir, 'postgres/global/pg_control');
    const content = readFileSync(control);
    writeFileSync(control, 'rubbish');
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow();
    writeFileSync(control, content);
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, 'SELECT name FROM pet')).toEqual([]),
    );
    expect(dirname(embeddedPostgresAddress(dataDir).host)).toBe(dataDir);
  });
});

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';

import { prepareDataDirectory } from '../../../src/platform/embedded/data-directory.ts';
import {
  EmbeddedPostgresInUse,
  embeddedPostgresAddress,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/platform/embedded/embedded-postgres.ts';
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

const startIn = `import { startEmbeddedPostgres } from '${new URL('../../../src/platform/embedded/index.ts', import.meta.url).href}';
  await startEmbeddedPostgres(process.argv[1]);`;

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
      const refused = startEmbeddedPostgres(dataDir);
      await expect(refused).rejects.toThrow(EmbeddedPostgresInUse);
      await expect(refused).rejects.toThrow(dataDir);
      const parameters = ['--input-type=module', '--eval', startIn, dataDir];
      const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' });
      expect([status, stderr]).toEqual([1, expect.stringContaining('EmbeddedPostgresInUse')]);
      expect(await runSql(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  });

  it('is reached by root beside the service of another user, and not started by it, which would leave files of root', async () => {
    if (process.getuid?.() !== 0) return;
    const nobody = 65534;
    const dataDir = await directories.created();
    await withEngine(dataDir, async ({ connection }) => {
      for (const each of [join(dataDir, 'postgres'), connection.host]) chownSync(each, nobody, nobody);
      expect(() => embeddedPostgresAddress(dataDir)).not.toThrow();
      chownSync(connection.host, nobody - 1, nobody);
      expect(() => embeddedPostgresAddress(dataDir)).toThrow('should be a directory of user 0');
    });
    const files = readdirSync(dataDir);
    await expect(startEmbeddedPostgres(dataDir, true)).rejects.toThrow(
      `belongs to user ${nobody}, and this is user 0: run it as that user`,
    );
    expect(readdirSync(dataDir)).toEqual(files);
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

  it('is reached by the address of its directory, and closes at once with clients connected, with a checkpoint and without what was not committed', async () => {
    const dataDir = await directories.created();
    const postgres = await startEmbeddedPostgres(dataDir);
    expect(embeddedPostgresAddress(dataDir)).toEqual(postgres.connection);
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
    await expect(runSql(embeddedPostgresAddress(dataDir), 'SELECT 1')).rejects.toMatchObject({ code: 'ENOENT' });
    // The state in PostgreSQL's control file: 1 is "shut down", 6 "in production", which a crash leaves.
    expect(readFileSync(join(dataDir, 'postgres/global/pg_control')).readInt32LE(16)).toBe(1);
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, 'SELECT * FROM pet')).toEqual([]),
    );
  });

  it('reports an engine that crashes, ends its connections and can be started again, but not with unusable files', async () => {
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

    const control = join(dataDir, 'postgres/global/pg_control');
    const content = readFileSync(control);
    writeFileSync(control, 'rubbish');
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow();
    // The failed start has given the directory up.
    writeFileSync(control, content);
    await withEngine(dataDir, async ({ connection }) =>
      expect(await runSql(connection, 'SELECT 1 AS one')).toHaveLength(1),
    );
    expect(dirname(embeddedPostgresAddress(dataDir).host)).toBe(dataDir);
  });
});

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { RunningCommand } from '../support/running-command.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { databaseDirectory } from '../support/temporary-directory.ts';

const environment = await createTestDatabase();

const commands = ['keys.ts list', 'webhooks.ts list', 'migrate.ts', 'migrate.ts --dry-run', 'seed.ts --pets 1'];

async function run(command: string, settings: Readonly<Record<string, string>>) {
  const running = new RunningCommand(`node src/cli/${command}`, settings);
  return { exitCode: await running.ended(), output: running.output };
}

describe.each(commands)('a command says which database it acts on: %s', (command) => {
  it('before it acts, with the setting that names it', async () => {
    const { exitCode, output } = await run(command, environment);
    const [first] = output.split('\n');
    expect([exitCode, first]).toEqual([
      0,
      environment['DATABASE_URL'] === undefined
        ? `Database: the embedded one in ${environment['DATA_DIR']} (DATA_DIR)`
        : expect.stringMatching(/^Database: \w+ at [\w.]+:\d+ \(DATABASE_URL\)$/),
    ]);
  });

  it('and makes none where there is none: it names both settings, ends with 1, and leaves nothing behind', async () => {
    const DATA_DIR = join(databaseDirectory(), 'none');
    const { exitCode, output } = await run(command, { DATA_DIR });
    expect([exitCode, output]).toEqual([
      1,
      expect.stringMatching(/^(?:(?:keys|webhooks): )?DATABASE_URL is unset, and DATA_DIR /),
    ]);
    expect(output).toContain(DATA_DIR);
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('and completes none that a killed start has left', async () => {
    const DATA_DIR = databaseDirectory();
    mkdirSync(join(DATA_DIR, 'postgres'));
    writeFileSync(join(DATA_DIR, 'postgres.creating'), '');
    const { exitCode, output } = await run(command, { DATA_DIR });
    expect([exitCode, output]).toEqual([1, expect.stringContaining('start the service there first.')]);
    expect(readdirSync(join(DATA_DIR, 'postgres'))).toEqual([]);
  });
});

it('shows a server without its user and password, and all of its hosts', async () => {
  const DATABASE_URL = 'postgresql://me:a-secret@127.0.0.1:1,[::1]:2/store';
  const waiting = new RunningCommand('node src/cli/keys.ts list', { DATABASE_URL });
  const [line] = await waiting.line(/^Database: .*/);
  expect(line).toBe('Database: store at 127.0.0.1:1, [::1]:2 (DATABASE_URL)');
  await waiting.kill();
});

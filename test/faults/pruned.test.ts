import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { spawnChild } from '../support/child-process.ts';

const root = join(import.meta.dirname, '../..');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

let directory: string;
let environment: NodeJS.ProcessEnv;

/** The repository as `npm prune --omit=dev` leaves it: what is built, the sources, and no development package. */
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'petstore-pruned-'));
  for (const part of ['package.json', 'package-lock.json', 'tsconfig.json', '.ci', 'src', 'migrations', 'dist']) {
    cpSync(join(root, part), join(directory, part), { recursive: true });
  }
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(directory, 'node_modules', dirname(name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(directory, 'node_modules', name));
  }
  environment = {
    PATH: `${dirname(process.env['SERVICE_NODE'] ?? process.execPath)}:${process.env['PATH']}`,
    DATA_DIR: join(directory, 'data'),
    DEMO: 'off',
    PORT: '0',
  };
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function npm(...args: string[]): string {
  return execFileSync('npm', ['run', '-s', ...args], { cwd: directory, env: environment, encoding: 'utf8' });
}

it('migrates, seeds, makes keys and starts without development packages, and keeps what is built', async () => {
  const built = readdirSync(join(directory, 'dist/src'));
  expect(npm('migrate')).toMatch(/up to date/);
  expect(npm('seed', '--', '--pets', '5')).toMatch(/^Added 5 pets/m);
  expect(npm('keys', '--', 'create', '--name', 'me', '--plan', 'free')).toMatch(/^\S+\n$/);
  npm('build');
  expect(readdirSync(join(directory, 'dist/src'))).toEqual(built);
  const service = spawnChild('npm', ['start'], { cwd: directory, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const opened = new Promise<void>((resolve) => {
    for (const stream of [service.stdout, service.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (line.startsWith('The store is open at')) resolve();
      });
    }
  });
  await Promise.race([opened, once(service, 'close')]);
  expect(lines.join('\n')).toMatch(/^The store is open at http/m);
  service.kill('SIGTERM');
  await once(service, 'close');
});

it('says what is missing where nothing is built', () => {
  rmSync(join(directory, 'dist'), { recursive: true });
  expect(() => npm('migrate')).toThrow(/The program is not built.+npm ci/s);
  expect(existsSync(join(directory, 'dist'))).toBe(false);
});

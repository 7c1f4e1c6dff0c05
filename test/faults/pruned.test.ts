import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from '@jest/globals';

import { path, repository } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

const directory = temporaryDirectory();
const environment = { DATA_DIR: join(directory, 'data'), DEMO: 'off' };

/** The repository as `npm prune --omit=dev` leaves it: what is built, the sources, and no development package. */
for (const part of ['package.json', 'package-lock.json', 'tsconfig.json', '.ci', 'src', 'migrations', 'dist']) {
  cpSync(join(repository, part), join(directory, part), { recursive: true });
}
for (const name of Object.keys(dependencies)) {
  mkdirSync(join(directory, 'node_modules', dirname(name)), { recursive: true });
  symlinkSync(join(repository, 'node_modules', name), join(directory, 'node_modules', name));
}

function npm(...args: string[]): string {
  return execFileSync('npm', ['run', '-s', ...args], {
    cwd: directory,
    env: { PATH: path, ...environment },
    encoding: 'utf8',
  });
}

it('migrates, seeds, makes keys and starts without development packages, and keeps what is built', async () => {
  const built = readdirSync(join(directory, 'dist/src'));
  expect(npm('migrate')).toMatch(/up to date/);
  expect(npm('seed', '--', '--pets', '5')).toMatch(/^Added 5 pets/m);
  expect(npm('keys', '--', 'create', '--name', 'me', '--plan', 'free')).toMatch(/^\S+\n$/);
  npm('build');
  expect(readdirSync(join(directory, 'dist/src'))).toEqual(built);
  const service = await Service.start(environment, { command: 'npm start', directory });
  await service.stop();
});

it('says what is missing where nothing is built', () => {
  rmSync(join(directory, 'dist'), { recursive: true });
  expect(() => npm('migrate')).toThrow(/The program is not built.+npm ci/s);
  expect(existsSync(join(directory, 'dist'))).toBe(false);
});

import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from '@jest/globals';

import { startCluster } from '../support/started-cluster.ts';
import { path, repository, RunningCommand } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const environment = { DATABASE_URL: (await startCluster()).url };

/** A clone with the pages of this one, in which the program is not built, and no package is installed. */
const checkout = temporaryDirectory();
for (const folder of ['test', '.github']) mkdirSync(join(checkout, folder));
const files = ['package.json', 'package-lock.json', 'tsconfig.json', '.github/CHANGELOG.md'];
const parts = [...files, '.ci', 'src', 'migrations', 'test/clients'];
const filter = (file: string): boolean => !file.endsWith('/node_modules');
for (const part of [...parts, 'dist/docs', 'dist/explorer']) {
  cpSync(join(repository, part), join(checkout, part), { recursive: true, filter });
}
const packages = join(checkout, 'node_modules');

/** As for users who let packages run no scripts of their own, which leaves out scripts before and after ours too. */
function npm(...args: string[]): string {
  return execFileSync('npm', ['run', '-s', ...args], {
    cwd: checkout,
    env: { PATH: path, ...environment, npm_config_ignore_scripts: 'true' },
    encoding: 'utf8',
  });
}

it('says what is missing where nothing is built', () => {
  rmSync(packages, { recursive: true, force: true });
  rmSync(join(checkout, 'dist/src'), { recursive: true, force: true });
  for (const script of ['migrate', 'start']) expect(() => npm(script)).toThrow(/The program is not built.+npm ci/s);
  expect(existsSync(join(checkout, 'dist/src'))).toBe(false);
});

it('says which command installs the Node of the packages, where their install scripts were not run', () => {
  mkdirSync(join(packages, 'node'), { recursive: true });
  writeFileSync(join(packages, 'node/package.json'), '{}');
  const older = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });`;
  const build = join(checkout, '.ci/build.mjs');
  const { status, stderr } = spawnSync('node', ['--import', `data:text/javascript,${older}`, build], {
    cwd: checkout,
    env: { PATH: path },
    encoding: 'utf8',
  });
  rmSync(packages, { recursive: true });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^This is Node 20.+ npm ci --ignore-scripts=false\n$/)]);
});

it('a start answers before the pages are built, by a process beside it that ends with it; they say so until they are there', async () => {
  symlinkSync(join(repository, 'node_modules'), packages);
  const dist = join(checkout, 'dist');
  const start = () => Service.start(environment, { command: 'npm start', directory: checkout });
  const statusOf = async (page: string) => (await fetch(service.address + page)).status;
  const builders = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        const isBuilder = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('build-pages.mjs');
        return isBuilder && readlinkSync(`/proc/${pid}/cwd`) === checkout;
      } catch {
        // No process, or one that has ended.
        return false;
      }
    });
  rmSync(join(dist, 'explorer'), { recursive: true });
  let service = await start();
  expect([await statusOf('/graphql'), await statusOf('/readyz')]).toEqual([401, 200]);
  const page = await fetch(`${service.address}/graphiql`);
  expect([page.status, page.headers.get('retry-after'), page.headers.get('refresh')]).toEqual([503, '3', '3']);
  expect(await page.text()).toMatch(/^The explorer: being built/);
  expect(builders()).toHaveLength(1);
  await service.stop();
  await until(() => builders().length === 0);

  service = await start();
  await until(async () => (await statusOf('/graphiql')) === 200, { maxMillis: 100_000 });
  await until(() => builders().length === 0);
  expect(existsSync(join(dist, 'pages-pending'))).toBe(false);
  await service.stop();
  service = await start();
  expect([await statusOf('/graphiql'), builders()]).toEqual([200, []]);
  await service.stop();
  rmSync(packages);
  for (const folder of ['src', 'migrations']) rmSync(join(dist, folder), { recursive: true });
});

it('a build leaves a whole program and nothing else, which needs no development packages, and is kept without them; changed sources are named then', async () => {
  symlinkSync(join(repository, 'node_modules'), packages);
  const build = new RunningCommand('node .ci/build.mjs', {}, checkout);
  expect([await build.ended(), build.output]).toEqual([0, '']);
  expect(new Set(readdirSync(join(checkout, 'dist')))).toEqual(new Set(['docs', 'explorer', 'migrations', 'src']));

  // As `npm prune --omit=dev` leaves them.
  rmSync(packages);
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(packages, dirname(name)), { recursive: true });
    symlinkSync(join(repository, 'node_modules', name), join(packages, name));
  }
  const built = readdirSync(join(checkout, 'dist/src'));
  expect(npm('migrate')).toMatch(/up to date/);
  expect(npm('seed', '--', '--pets', '5')).toMatch(/^Added 5 pets/m);
  expect(npm('keys', '--', 'create', '--name', 'me', '--plan', 'free')).toMatch(/^\S+\n$/);
  npm('build');
  expect(readdirSync(join(checkout, 'dist/src'))).toEqual(built);
  const service = await Service.start(environment, { command: 'npm start', directory: checkout });
  for (const page of ['/', '/graphiql', '/docs', '/docs/graphql', '/openapi.json']) {
    const { status } = await fetch(service.address + page, { headers: { accept: 'text/html' } });
    expect([page, status]).toEqual([page, 200]);
  }
  await service.stop();

  const source = join(checkout, 'src/settings/version.ts');
  writeFileSync(source, `${readFileSync(source, 'utf8')}// Changed.\n`);
  expect(() => npm('migrate')).toThrow(/The program was built from other sources than those here.+npm run build/s);
  expect(readdirSync(join(checkout, 'dist/src'))).toEqual(built);
});

it('pages are built anew when something has changed that their builder imports, however far', () => {
  const check = (): number | null =>
    spawnSync('node', ['.ci/build-pages.mjs', '--check'], { cwd: checkout, env: { PATH: path } }).status;
  expect(check()).toBe(0);
  const source = join(checkout, 'src/domain/pets/pet.entity.ts');
  writeFileSync(source, `${readFileSync(source, 'utf8')}// Changed.\n`);
  expect(check()).toBe(1);
});

it('of builds at the same time, which replace each other, one is there, whole', async () => {
  const directory = temporaryDirectory();
  cpSync(join(repository, '.ci/build-once.mjs'), join(directory, 'build-once.mjs'));
  const program = `import { writeFileSync } from 'node:fs';
    import { buildOnce } from './build-once.mjs';
    for (let turn = 0; turn < 10; turn += 1) await buildOnce('target', process.argv[1] + turn, (folder) => {
      for (let n = 0; n < 20; n += 1) writeFileSync(folder + '/' + n, process.argv[1] + turn);
    });`;
  const builds = ['a', 'b', 'c', 'd'].map(
    (name) => new RunningCommand(`node --input-type=module --eval "${program}" ${name}`, {}, directory),
  );
  const codes = await Promise.all(builds.map((build) => build.ended()));
  expect([codes, builds.map(({ output }) => output)]).toEqual([
    [0, 0, 0, 0],
    ['', '', '', ''],
  ]);
  const target = join(directory, 'target');
  const texts = readdirSync(target).map((file) => readFileSync(join(target, file), 'utf8'));
  expect([texts.length, new Set(texts).size]).toEqual([21, 1]);
  expect(readdirSync(directory).filter((name) => name.startsWith('.'))).toEqual([]);
});

import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from '@jest/globals';

import { repository, RunningCommand } from '../support/running-command.ts';
import { Service } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { copyEmbeddedStore } from '../support/test-database.ts';

const checkout = temporaryDirectory();

/** A clone with the packages and the pages of this one, in which the program is not built. */
mkdirSync(join(checkout, 'test'));
const parts = ['package.json', 'package-lock.json', 'tsconfig.json', '.ci', 'src', 'migrations', 'test/clients'];
const filter = (path: string): boolean => !path.endsWith('/node_modules');
for (const part of [...parts, 'dist/docs', 'dist/explorer']) {
  cpSync(join(repository, part), join(checkout, part), { recursive: true, filter });
}
symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'));

it('builds of one checkout at the same time leave a whole program, and nothing else', async () => {
  const builds = ['npm start', 'npm run dev'].map(() => new RunningCommand('node .ci/build.mjs', {}, checkout));
  const codes = await Promise.all(builds.map((build) => build.ended()));
  expect([codes, builds.map(({ output }) => output)]).toEqual([
    [0, 0],
    ['', ''],
  ]);
  expect(new Set(readdirSync(join(checkout, 'dist')))).toEqual(new Set(['docs', 'explorer', 'migrations', 'src']));
  const service = await Service.start(await copyEmbeddedStore(), { directory: checkout });
  for (const path of ['/', '/graphiql', '/docs', '/docs/graphql', '/openapi.json']) {
    const { status } = await fetch(service.address + path, { headers: { accept: 'text/html' } });
    expect([path, status]).toEqual([path, 200]);
  }
  await service.stop();
});

it('a build that is replaced while others replace it is one of them, whole', async () => {
  const program = `import { writeFileSync } from 'node:fs';
    import { buildOnce } from './.ci/build-once.mjs';
    for (let turn = 0; turn < 40; turn += 1) await buildOnce('dist/target', process.argv[1] + turn, (folder) => {
      for (let n = 0; n < 20; n += 1) writeFileSync(folder + '/' + n, process.argv[1] + turn);
    });`;
  const builds = ['a', 'b', 'c', 'd'].map(
    (name) => new RunningCommand(`node --input-type=module --eval "${program}" ${name}`, {}, checkout),
  );
  const codes = await Promise.all(builds.map((build) => build.ended()));
  expect([codes, builds.map(({ output }) => output)]).toEqual([
    [0, 0, 0, 0],
    ['', '', '', ''],
  ]);
  const target = join(checkout, 'dist/target');
  const texts = readdirSync(target).map((file) => readFileSync(join(target, file), 'utf8'));
  expect([texts.length, new Set(texts).size]).toEqual([21, 1]);
  expect(readdirSync(join(checkout, 'dist')).filter((name) => name.startsWith('.'))).toEqual([]);
});

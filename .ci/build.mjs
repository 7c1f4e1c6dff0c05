// Builds the program into dist/, unless it is there already from the same files. What is built is replaced only by a
// complete build, and never removed: without the compiler (`npm prune --omit=dev` takes it) the program is used as is.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const program = 'dist/src/main.js';
const stamp = 'dist/.built-from';
const compiler = 'node_modules/@typescript/native/bin/tsc';

assertNodeVersion();
const hasCompiler = existsSync(compiler) && existsSync('src/main.ts');
if (!hasCompiler && !existsSync(program)) {
  fail('The program is not built, and what builds it is not installed: run `npm ci` and `npm run build` first.');
}
if (hasCompiler) {
  const builtFrom = fingerprint();
  if (!existsSync(program) || readStamp() !== builtFrom) build(builtFrom);
  run('.ci/build-pages.mjs');
}

function build(builtFrom) {
  const folder = `dist/.build-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    run(compiler, '--outDir', folder);
    run('.ci/build-openapi.mjs', join(folder, 'src/rest/openapi'));
    rmSync(stamp, { force: true });
    for (const part of ['src', 'migrations']) replace(join('dist', part), join(folder, part));
    writeFileSync(stamp, builtFrom);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function replace(target, source) {
  const old = `${source}.old`;
  if (existsSync(target)) renameSync(target, old);
  renameSync(source, target);
}

function run(script, ...options) {
  const { status } = spawnSync(process.execPath, ['--experimental-strip-types', script, ...options], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    rmSync(`dist/.build-${process.pid}`, { recursive: true, force: true });
    process.exit(1);
  }
}

/** The pages have a fingerprint of their own. */
function fingerprint() {
  const files = ['src', 'migrations'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|yaml)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !file.startsWith('src/pages/explorer/')),
  );
  const hash = createHash('sha256');
  for (const file of [
    'tsconfig.json',
    'package-lock.json',
    '.ci/build.mjs',
    '.ci/build-openapi.mjs',
    '.ci/openapi.mjs',
    '.ci/noun-operations.mjs',
    ...files.toSorted(),
  ]) {
    hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function readStamp() {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

/** The same as in src/node-version.ts, for what runs before the program is there. */
function assertNodeVersion() {
  const needed = JSON.parse(readFileSync('package.json', 'utf8')).engines.node.replace('>=', '');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return;
  fail(`This is Node ${process.versions.node}, but Node ${needed} or newer is needed.`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

// Builds the program and the pages into dist/, each unless it is there already from the same files. What is built is replaced only by a
// complete build, and never removed: without the compiler (`npm prune --omit=dev` takes it) the program is used as is,
// unless the sources have changed.
//
// With --program the pages are left out: where they are missing or outdated a file says so, for a service that builds
// them when it listens, and whose pages say so until then.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { buildOnce, fingerprintOf, isBuilt } from './build-once.mjs';

const program = 'dist/src/main.js';
const compiler = 'node_modules/@typescript/native/bin/tsc';
/** Scripts import TypeScript, which Node reads without being told from 22.18 on. */
const stripTypes = process.features.typescript
  ? []
  : ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];

assertNodeVersion();
const hasSources = existsSync('src/main.ts');
const hasCompiler = hasSources && existsSync(compiler);
if (!hasCompiler && !existsSync(program)) {
  fail('The program is not built, and what builds it is not installed: run `npm ci` and `npm run build` first.');
}
if (hasSources && !hasCompiler && !isBuilt('dist/src', fingerprintOf(sources()))) {
  fail(
    'The program was built from other sources than those here, and what builds it is not installed: run `npm ci` and ' +
      '`npm run build` first. `node dist/src/main.js` starts it as it is.',
  );
}
try {
  if (hasCompiler) {
    const builtFrom = fingerprintOf(sources());
    await buildOnce('dist/src', builtFrom, (folder) => build(folder, builtFrom));
    if (process.argv.includes('--program')) {
      markPages();
    } else run('.ci/build-pages.mjs');
  }
} catch (error) {
  fail(error.message);
}

/** The migrations, which the program imports, are in their place before it. */
async function build(folder, builtFrom) {
  const compiled = join(folder, 'compiled');
  run(compiler, '--outDir', compiled);
  run('.ci/build-openapi.mjs', join(compiled, 'src/rest/openapi'));
  await buildOnce('dist/migrations', builtFrom, (migrations) => copy(join(compiled, 'migrations'), migrations));
  copy(join(compiled, 'src'), folder);
  rmSync(compiled, { recursive: true });
}

function copy(from, to) {
  cpSync(from, to, { recursive: true });
}

function run(script, ...options) {
  if (statusOf(script, ...options) !== 0) throw new Error(`The build has failed: ${script}`);
}

function markPages() {
  const areBuilt = statusOf('.ci/build-pages.mjs', '--check') === 0;
  try {
    if (areBuilt) rmSync('dist/pages-pending', { force: true });
    else writeFileSync('dist/pages-pending', '');
  } catch {
    // Where nothing can be written, nothing can be built.
  }
}

/** The script's output goes to standard error. */
function statusOf(script, ...options) {
  return spawnSync(process.execPath, [...stripTypes, script, ...options], { stdio: ['ignore', 2, 2] }).status;
}

/** The pages have a fingerprint of their own, and what `build-openapi.mjs` has built for tests is no source. */
function sources() {
  const files = ['src', 'migrations'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:ts|yaml)$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !/^src\/(?:pages\/explorer|rest\/openapi\/built)\//.test(file)),
  );
  const scripts = ['build', 'build-once', 'build-openapi', 'openapi', 'noun-operations', 'noun-schemas'];
  return ['tsconfig.json', 'package-lock.json', ...scripts.map((name) => `.ci/${name}.mjs`), ...files];
}

/** The same as in src/process/node-version.ts, for what runs before the program is there. */
function assertNodeVersion() {
  const needed = JSON.parse(readFileSync('package.json', 'utf8')).engines.node.replace('>=', '');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return;
  const ownIsMissing = existsSync('node_modules/node/package.json') && !existsSync('node_modules/node/bin/node');
  fail(
    `This is Node ${process.versions.node}, but Node ${needed} or newer is needed. ` +
      (ownIsMissing
        ? 'The one that comes with the packages is not there, because their install scripts were not run: npm ci --ignore-scripts=false'
        : 'One comes with the packages: npm ci'),
  );
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

// Lays each recipe of src/RECIPES.md over a copy of the working tree, and checks and tests it there:
//   npm run test:recipes -- [--keep] [name …]
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What a recipe says of itself before its patch. */
interface Limits {
  readonly files: number;
  readonly lines: number;
  readonly suites: readonly string[];
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { keep: { type: 'boolean' } } });
const recipes = globSync('test/recipes/*.patch')
  .map((path) => basename(path, '.patch'))
  .toSorted();
const unknown = positionals.find((name) => !recipes.includes(name));
if (unknown !== undefined) throw new Error(`There is no recipe ${unknown}, but ${recipes.join(', ')}.`);
// One copy for all of them: what was compiled and checked for one needn't be for the next.
let tree = copyOfTree();
for (const name of positionals.length > 0 ? positionals : recipes) {
  try {
    tryRecipe(name, tree);
  } catch (error) {
    process.exitCode = 1;
    console.error(error instanceof Error ? error.message : error);
  }
  if (values.keep === true) {
    console.log(`${name} is in ${tree}`);
    tree = copyOfTree();
  } else restore(tree);
}
rmSync(tree, { recursive: true });

function tryRecipe(name: string, copy: string): void {
  const started = performance.now();
  const patch = resolve('test/recipes', `${name}.patch`);
  const { files, lines, suites } = limitsOf(patch);
  const changed = changedBy(patch);
  const paths = changed.map(({ path }) => path);
  const counted = changed.filter(({ path }) => !path.startsWith('test/'));
  const added = counted.reduce((sum, each) => sum + each.added, 0);
  if (counted.length > files || added > lines) {
    throw new Error(`${name} takes ${counted.length} files and ${added} lines, of at most ${files} and ${lines}.`);
  }
  lay(patch, copy);
  const run = (...command: readonly string[]): void => runIn(copy, name, command);
  run('npm', 'run', '-s', 'rest-types');
  run('npx', 'tsc', '-p', 'test/tsconfig.json', '--incremental', '--tsBuildInfoFile', '.git/types.tsbuildinfo');
  // As `npm run schema`, of the sources: the pages needn't be built.
  run('sh', '-c', 'node --import ./test/jest/loader.ts src/cli/print-schema.ts >schema.graphql');
  run('npx', 'oxlint', ...paths.filter((path) => path.endsWith('.ts')));
  run('npx', 'prettier', '--check', '--log-level', 'warn', ...paths);
  for (const check of ['imports', 'openapi', 'unused']) run('npm', 'run', '-s', `check:${check}`);
  const own = paths.filter((path) => path.endsWith('.test.ts'));
  run('npm', 'test', '--', ...new Set([...own, ...suites]));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${name}: ${counted.length} files, ${added} lines, ${seconds} s`);
}

function limitsOf(patch: string): Limits {
  const [text = ''] = readFileSync(patch, 'utf8').split('\ndiff ');
  const [, files, lines, suites] = /^At most (\d+) files and (\d+) lines\.\nSuites: (.*)$/m.exec(text) ?? [];
  if (suites === undefined) throw new Error(`${patch} needs "At most … files and … lines." and "Suites: …".`);
  return { files: Number(files), lines: Number(lines), suites: suites.split(' ') };
}

function changedBy(patch: string) {
  const output = execFileSync('git', ['apply', '--numstat', patch], { encoding: 'utf8' });
  return output.split('\n').flatMap((line) => {
    const [added, , path] = line.split('\t');
    return path === undefined ? [] : [{ path, added: Number(added) }];
  });
}

/** The files as they are now, committed or not, in a repository of their own: `git diff` shows what a recipe changes. */
function copyOfTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'recipe-'));
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], { encoding: 'utf8' });
  for (const path of listed.split('\0')) if (path !== '' && existsSync(path)) cpSync(path, join(copy, path));
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  execFileSync('git', ['init', '-q'], { cwd: copy });
  // A link isn't the folder that is ignored.
  writeFileSync(join(copy, '.git/info/exclude'), 'node_modules\n');
  execFileSync('git', ['add', '--all'], { cwd: copy });
  return copy;
}

/** Takes a recipe out again: its index is that of the tree, but for the names of new files. */
function restore(copy: string): void {
  const git = (...options: readonly string[]) => execFileSync('git', options, { cwd: copy, encoding: 'utf8' });
  git('read-tree', git('write-tree').trim());
  git('checkout-index', '--all', '--force');
  git('clean', '--force', '-d', '--quiet');
}

/** What doesn't apply any more is named, file and line, and stays beside the file as `*.rej`. */
function lay(patch: string, copy: string): void {
  const { status, stderr } = spawnSync('git', ['apply', '--reject', '-C1', patch], { cwd: copy, encoding: 'utf8' });
  const refused = stderr.split('\n').filter((line) => /^error: (?!while)/.test(line));
  if (status !== 0) throw new Error([`${basename(patch)} no longer applies:`, ...refused].join('\n'));
  execFileSync('git', ['add', '--intent-to-add', '.'], { cwd: copy });
}

function runIn(copy: string, name: string, [program = '', ...options]: readonly string[]): void {
  const { status } = spawnSync(program, options, { cwd: copy, stdio: 'inherit' });
  if (status !== 0) throw new Error(`The recipe ${name} fails: ${[program, ...options].join(' ')}`);
}

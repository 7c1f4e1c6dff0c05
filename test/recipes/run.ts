// Lays each recipe of src/RECIPES.md over a copy of the working tree, and checks and tests it there:
//   npm run test:recipes -- [--keep] [name …]
import { execFile, execFileSync, type ExecFileOptions, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';

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
const chosen = positionals.length > 0 ? positionals : recipes;
/** Processes that work at a time, of one recipe or of several. */
const atOnce = 2;
const copies = Math.min(atOnce, chosen.length);
/** A migrated database, for all that change no migrations. */
const template = join(mkdtempSync(join(tmpdir(), 'recipes-')), 'template');
// What is largest begins first.
const waiting = chosen.toSorted((a, b) => limitsOf(b).lines - limitsOf(a).lines);
await Promise.all(Array.from({ length: copies }, tryWaiting));
rmSync(dirname(template), { recursive: true });

/** One copy for one recipe after another: what was compiled and checked for one needn't be for the next. */
async function tryWaiting(): Promise<void> {
  let tree = copyOfTree();
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    try {
      console.log(await tryRecipe(name, tree));
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
}

/** Returns what it took. */
async function tryRecipe(name: string, copy: string): Promise<string> {
  const started = performance.now();
  const { files, lines, suites } = limitsOf(name);
  const patch = patchOf(name);
  const changed = changedBy(patch);
  const paths = changed.map(({ path }) => path);
  const counted = changed.filter(({ path }) => !path.startsWith('test/'));
  const added = counted.reduce((sum, each) => sum + each.added, 0);
  if (counted.length > files || added > lines) {
    throw new Error(`${name} takes ${counted.length} files and ${added} lines, of at most ${files} and ${lines}.`);
  }
  lay(patch, copy);
  const isMigrating = paths.some((path) => path.startsWith('migrations/'));
  const env = isMigrating ? process.env : { ...process.env, TEST_TEMPLATE: template };
  const run = (...command: readonly string[]): Promise<void> => runFor(name, command, { cwd: copy, env });
  await run('node', '--run', 'rest-types');
  await run('tsc', '-p', 'test/tsconfig.json', '--incremental', '--tsBuildInfoFile', '.git/types.tsbuildinfo');
  // As `npm run schema`, of the sources: the pages needn't be built.
  await run('sh', '-c', 'node --import ./test/jest/loader.ts src/cli/print-schema.ts >schema.graphql');
  await run('oxlint', ...paths.filter((path) => path.endsWith('.ts')));
  await run('prettier', '--check', '--log-level', 'warn', ...paths);
  for (const check of ['imports', 'openapi']) await run('node', '--run', `check:${check}`);
  await run('knip', '--no-progress', '--cache', '--cache-location', '.git/knip');
  const own = paths.filter((path) => path.endsWith('.test.ts'));
  await run('node', '--run', 'test', '--', `--maxWorkers=${atOnce / copies}`, ...new Set([...own, ...suites]));
  const seconds = Math.round((performance.now() - started) / 1000);
  return `${name}: ${counted.length} files, ${added} lines, ${seconds} s`;
}

function patchOf(name: string): string {
  return resolve('test/recipes', `${name}.patch`);
}

function limitsOf(name: string): Limits {
  const patch = patchOf(name);
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
  git(copy, 'init', '--quiet');
  // A link isn't the folder that is ignored.
  writeFileSync(join(copy, '.git/info/exclude'), 'node_modules\n');
  git(copy, 'add', '--all');
  git(copy, '-c', 'user.name=recipes', '-c', 'user.email=recipes', 'commit', '--quiet', '--message', 'The tree');
  return copy;
}

/** Takes a recipe out again. What it has not changed keeps its time, by which caches know it. */
function restore(copy: string): void {
  git(copy, 'reset', '--quiet', '--hard');
  git(copy, 'clean', '--force', '-d', '--quiet');
}

function git(copy: string, ...options: readonly string[]): void {
  execFileSync('git', options, { cwd: copy });
}

/** What doesn't apply any more is named, file and line, and stays beside the file as `*.rej`. */
function lay(patch: string, copy: string): void {
  const { status, stderr } = spawnSync('git', ['apply', '--reject', '-C1', patch], { cwd: copy, encoding: 'utf8' });
  const refused = stderr.split('\n').filter((line) => /^error: (?!while)/.test(line));
  if (status !== 0) throw new Error([`${basename(patch)} no longer applies:`, ...refused].join('\n'));
  git(copy, 'add', '--intent-to-add', '.');
}

/** What a command has written is shown when it fails. */
async function runFor(
  name: string,
  [program = '', ...parameters]: readonly string[],
  options: ExecFileOptions,
): Promise<void> {
  try {
    await promisify(execFile)(program, parameters, { ...options, maxBuffer: Infinity });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    const words = `The recipe ${name} fails: ${[program, ...parameters].join(' ')}`;
    throw new Error([stdout, stderr, words].join('\n'), { cause: error });
  }
}

// Each guide as a reader pastes it: in an empty folder, with the packages of its install lines and no other, its code
// has to compile.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { guidesAsMarkdown, guidesIn } from '../../.ci/guides.mjs';

const run = promisify(execFile);
const here = import.meta.dirname;
const compiler = join(here, '../../node_modules/@typescript/native/bin/tsc');
const installed = [join(here, 'node_modules'), join(here, '../../node_modules')];

const settings = JSON.parse(readFileSync(join(here, 'guides.tsconfig.json'), 'utf8'));

/**
 * Compiles the guides one after another with the packages that are installed here. `document` is the built OpenAPI
 * document.
 */
export function compileGuides(document) {
  return inEmptyFolders((guide, folder) => compileGuide(guide, folder, document));
}

/**
 * The same with what npm installs, with the schema and the document of the service at this address; and runs what can
 * be run.
 */
export function installGuides(serviceUrl, key) {
  return inEmptyFolders(async (text, folder) => {
    const guide = text.replaceAll('http://127.0.0.1:4000', serviceUrl);
    writeFiles(guide, folder);
    const options = { cwd: folder, env: { ...process.env, KEY: key }, timeout: 180_000 };
    for (const command of commandsOf(guide).filter((each) => /^(?:npm|npx|node|curl .* -o) /.test(each))) {
      const { stdout } = await run('sh', ['-c', command], options);
      if (command.startsWith('node ')) process.stdout.write(`${stdout.split('\n', 6).join('\n')} …\n`);
    }
    if (packagesOf(guide).length === 0) for (const name of ['typescript', '@types/node']) link(name, folder);
    const tsc = join(folder, 'node_modules/.bin/tsc');
    await run(existsSync(tsc) ? tsc : compiler, ['-p', folder]);
  });
}

/** Each guide that has code, in a folder of its own. */
async function inEmptyFolders(use) {
  const { rest, graphql } = guidesAsMarkdown();
  for (const guide of [...guidesIn(rest), ...guidesIn(graphql)].filter((each) => /^```[jt]s$/m.test(each))) {
    const [, name] = /^## (.*)$/m.exec(guide);
    const folder = mkdtempSync(join(tmpdir(), 'petstore-guide-'));
    try {
      await use(guide, folder);
    } catch (error) {
      throw new Error(`${name}: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function compileGuide(guide, folder, document) {
  const commands = commandsOf(guide);
  const packages = packagesOf(guide);
  const named = new Set(packages.map(({ name }) => name));
  const tools = commands.flatMap((command) => /^npx (\S+)/.exec(command)?.[1] ?? []);
  for (const { name, version } of packages) {
    link(name, folder);
    const installedVersion = manifestOf(name, folder).version;
    if (version !== undefined && version !== installedVersion)
      throw new Error(`${name} is ${installedVersion} here, not ${version}`);
  }
  const files = writeFiles(guide, folder);
  assertEachIsNeeded(named, tools, Object.values(files).join('\n'), folder);
  if (commands.includes('npm pkg set type=module')) writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const command of commands.filter((each) => /^(?:curl|npx) /.test(each))) {
    if (command.includes('/schema.graphql'))
      cpSync(join(here, 'generated/schema.graphql'), join(folder, 'generated/schema.graphql'));
    const [, tool, rest] = /^npx (\S+) (.*)$/.exec(command) ?? [];
    if (tool === undefined) continue;
    const options = rest.replace(/'http\S+\/openapi\.json'/, document).split(' ');
    await run(binOf(tool, named, folder), options, { cwd: folder });
  }
  if (named.size === 0) for (const name of ['typescript', '@types/node']) link(name, folder);
  await run(compiler, ['-p', folder]);
}

/** The lines of its shell commands. */
function commandsOf(guide) {
  return [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, text]) => text.trim().split('\n'));
}

/** What its install lines name, with the version if they do. */
function packagesOf(guide) {
  return commandsOf(guide)
    .flatMap((command) => (/^npm install (?:--save-dev )?(.*)$/.exec(command)?.[1] ?? '').split(' '))
    .filter(Boolean)
    .map((text) => {
      const [, name, version] = /^(@?[^@]+)(?:@(.+))?$/.exec(text);
      return { name, version };
    });
}

/**
 * Writes the files of a guide; one that has JavaScript, or no settings of the compiler, is checked with those of the
 * others.
 */
function writeFiles(guide, folder) {
  const files = filesIn(guide);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  for (const name of ['generated', '__generated__']) mkdirSync(join(folder, name));
  if (files['tsconfig.json'] === undefined) {
    const compilerOptions = { ...settings.compilerOptions, allowJs: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  }
  return files;
}

/**
 * The files of a guide: JSON is named before its block, code in the first line of its block, unless it is the
 * program's.
 */
function filesIn(guide) {
  const files = {};
  for (const [, named, language, text] of guide.matchAll(
    /(?:`([\w.-]+)`[^\n]*:\n\n)?^```(ts|js|json)\n(.*?)^```$/gms,
  )) {
    const [, inside] = /^\/\/ ([\w.-]+\.ts)\n/.exec(text) ?? [];
    const name = language === 'json' ? named : (inside ?? `program.${language}`);
    files[name] = `${files[name] ?? ''}${text}\n`;
  }
  return files;
}

function link(name, folder) {
  const from = installed.map((modules) => join(modules, name)).find((path) => existsSync(path));
  if (from === undefined) throw new Error(`the package ${name} is not installed here`);
  const to = join(folder, 'node_modules', name);
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to);
}

function manifestOf(name, folder) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
}

function binOf(tool, named, folder) {
  for (const name of named) {
    const { bin } = manifestOf(name, folder);
    const path = typeof bin === 'string' ? { [name]: bin }[tool] : bin?.[tool];
    if (path !== undefined) return join(folder, 'node_modules', name, path);
  }
  throw new Error(`no package of the guide has ${tool}`);
}

/** Imported, run, or demanded by another one. */
function assertEachIsNeeded(named, tools, code, folder) {
  const peers = new Set([...named].flatMap((name) => Object.keys(manifestOf(name, folder).peerDependencies ?? {})));
  for (const name of named) {
    const isTool = name === 'typescript' || name.startsWith('@types/') || hasOneOf(tools, manifestOf(name, folder));
    const isGenerated = name === '@graphql-typed-document-node/core' && tools.includes('graphql-codegen');
    const isImported = code.includes(`from '${name}'`) || code.includes(`from '${name}/`);
    if (!isTool && !isGenerated && !isImported && !peers.has(name))
      throw new Error(`nothing needs the package ${name}`);
  }
}

function hasOneOf(tools, { name, bin }) {
  return tools.some((tool) => (typeof bin === 'string' ? tool === name : Object.hasOwn(bin ?? {}, tool)));
}

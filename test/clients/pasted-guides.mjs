// Each guide as a reader pastes it: in an empty folder, with the packages of its install lines and no other, its code has to compile.
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

/** The options that the guides name. */
const compilerOptions = {
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  target: 'es2023',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: ['node'],
  allowJs: true,
};

/** Compiles the guides one after another; returns their names. `document` is the built OpenAPI document. */
export async function compileGuides(document) {
  const { rest, graphql } = guidesAsMarkdown();
  const guides = [...guidesIn(rest), ...guidesIn(graphql)].filter((guide) => /^```[jt]s$/m.test(guide));
  const names = [];
  for (const guide of guides) {
    const [, name] = /^## (.*)$/m.exec(guide);
    const folder = mkdtempSync(join(tmpdir(), 'petstore-guide-'));
    try {
      await compileGuide(guide, folder, document);
    } catch (error) {
      throw new Error(`${name}: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    names.push(name);
  }
  return names;
}

async function compileGuide(guide, folder, document) {
  const files = filesIn(guide);
  const commands = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, text]) => text.trim().split('\n'));
  const packages = commands.flatMap((command) =>
    (/^npm install (?:--save-dev )?(.*)$/.exec(command)?.[1] ?? '').split(' '),
  );
  const named = new Set(packages.filter(Boolean));
  const tools = commands.flatMap((command) => /^npx (\S+)/.exec(command)?.[1] ?? []);
  for (const name of named) link(name, folder);
  assertEachIsNeeded(named, tools, Object.values(files).join('\n'), folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  if (commands.includes('npm pkg set type=module')) writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'generated'));
  mkdirSync(join(folder, '__generated__'));
  for (const command of commands.filter((each) => /^(?:curl|npx) /.test(each))) {
    if (command.includes('/schema.graphql'))
      cpSync(join(here, 'generated/schema.graphql'), join(folder, 'generated/schema.graphql'));
    const [, tool, rest] = /^npx (\S+) (.*)$/.exec(command) ?? [];
    if (tool === undefined) continue;
    const options = rest.replace(/'http\S+\/openapi\.json'/, document).split(' ');
    await run(binOf(tool, named, folder), options, { cwd: folder });
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.js'] }));
  if (named.size === 0) for (const name of ['typescript', '@types/node']) link(name, folder);
  await run(compiler, ['-p', folder]);
}

/** The files of a guide. The first line of a block names its file, unless that is the program. */
function filesIn(guide) {
  const files = {};
  for (const [, language, text] of guide.matchAll(/^```(ts|js|json)\n(.*?)^```$/gms)) {
    const [, name = `program.${language}`] = /^\/\/ ([\w.-]+\.(?:ts|json))\n/.exec(text) ?? [];
    const content = language === 'json' ? text.replace(/^\/\/.*\n/, '') : text;
    files[name] = `${files[name] ?? ''}${content}\n`;
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

// Each guide as a reader pastes it, from top to bottom: its files are written and its commands run in an empty folder,
// with the packages of its install lines and no other, and they print what the guide says. Then the code of all of them
// has to compile.
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { graphqlGuides, guidesIn, restGuides } from '../../../.ci/guides.mjs';
import { driveReactGuide } from './react-guide.mjs';

const run = promisify(execFile);
const here = import.meta.dirname;
const compiler = join(here, '../../../node_modules/@typescript/native/bin/tsc');

/** What a reader has besides, or sees in a browser. */
const others = { react: driveReactGuide };

/**
 * Pastes the guides whose names contain `pattern`, one after another. Without `isInstalled`, npm's own commands use the
 * packages that are installed here; with it, what npm installs today.
 */
export async function pasteGuides({ url, key, isInstalled = false, pattern = '' }) {
  const commands = isInstalled ? [] : [writeCommands()];
  const pages = [...graphqlGuides()];
  const setUp = guidesIn(new Map(pages).get('set-up'));
  const rest = guidesIn(restGuides()).map((text) => [/^## (?:Guide: )?(.*)/.exec(text)[1], text]);
  const parent = mkdtempSync(join(tmpdir(), 'petstore-guides-'));
  try {
    const compiled = [];
    for (const [name, text] of [...pages, ...rest].filter(([each]) => each !== 'set-up' && each.includes(pattern))) {
      const folder = mkdtempSync(join(parent, `${name.replaceAll(' ', '-')}-`));
      const path = [...commands, process.env.PATH].join(':');
      const reader = { folder, url, env: { ...process.env, PATH: path, KEY: key, NO_COLOR: '1' } };
      await step(`The guide ${name}`, async () => {
        for (const before of setUpOf(text, setUp)) await paste(before, reader);
        const blocks = await paste(text, reader);
        await others[name]?.(reader);
        if (!isInstalled) assertEachIsNeeded(blocks);
        if (blocks.some(({ language }) => /^tsx?$/.test(language))) compiled.push(folder);
      });
    }
    if (compiled.length > 0) await step('The types of the guides', () => compile(parent, compiled[0]));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function step(title, work) {
  const begun = performance.now();
  try {
    await work();
  } catch (error) {
    throw new Error(`${title}: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`);
  }
  process.stdout.write(`${title}: ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
}

/** All folders at once, which share most of what their packages declare, with the settings and the types of Node of one. */
async function compile(parent, folder) {
  copyFileSync(join(folder, 'tsconfig.json'), join(parent, 'tsconfig.json'));
  mkdirSync(join(parent, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(folder, 'node_modules/@types/node'), join(parent, 'node_modules/@types/node'));
  await run(compiler, ['-p', parent]);
}

/** The parts of `set-up` that a guide names as what it goes on from. */
function setUpOf(text, [introduction, types]) {
  if (text.includes('set-up#types-of-documents')) return [introduction, types];
  return /\((?:\.|\/docs\/graphql)\/set-up\)/.test(text) ? [introduction] : [];
}

/**
 * Does what the blocks of a guide say, in their order. A block of text, or of JSON that is no file, is what the command
 * before it prints.
 */
async function paste(guide, { folder, url, env }) {
  const blocks = blocksOf(guide.replaceAll('http://127.0.0.1:4000', url));
  const begun = new Set();
  for (const [index, { language, file, text }] of blocks.entries()) {
    if (language === 'sh') {
      const command = text.replace(/^export KEY=….*$/m, '').replaceAll('…', '');
      const { stdout } = await run('sh', ['-ec', command], { cwd: folder, env, timeout: 180_000 });
      const next = blocks[index + 1];
      if (next !== undefined && isOutput(next)) assertPrints(stdout, next.text, text);
    } else if (file !== undefined) {
      if (begun.has(file)) appendFileSync(join(folder, file), `\n${text}`);
      else writeFileSync(join(folder, file), text);
      begun.add(file);
    }
  }
  return blocks;
}

const isOutput = ({ language, file }) => file === undefined && ['text', 'json'].includes(language);

/**
 * The blocks of code. The sentence before a file's block names it, or its first line does; other code is the program's.
 */
export function blocksOf(guide) {
  const blocks = guide.matchAll(/(?:^[^\n]*`([\w.-]+\.(?:json|html|tsx?|py|js))`[^\n]*:\n\n)?^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].map(([, named, language, text]) => {
    const inside = /^(?:\/\/|#) ([\w.-]+\.\w+)\n/.exec(text)?.[1];
    const isProgram = ['ts', 'tsx', 'js', 'py', 'html'].includes(language);
    return { language, text, file: inside ?? named ?? (isProgram ? `program.${language}` : undefined) };
  });
}

/** `…` stands for the rest of a line, or alone for any lines. */
function assertPrints(printed, expected, command) {
  const pattern = expected
    .trimEnd()
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?.*' : line.split('…').map(RegExp.escape).join('.*?')))
    .join('\\n');
  if (!new RegExp(`^${pattern}$`).test(printed.trimEnd()))
    throw new Error(`${command}prints\n${printed}and not\n${expected}`);
}

/** `npm` and `npx` on what is installed here, and a `python3` that has httpx. */
function writeCommands() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-commands-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const commands = {
    npm: `"${process.execPath}" "${join(here, 'npm.mjs')}" npm "$@"`,
    npx: `"${process.execPath}" "${join(here, 'npm.mjs')}" npx "$@"`,
    node: `"${process.execPath}" "$@"`,
    python3: '/usr/bin/python3 "$@"',
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, command] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${command}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** What a guide installs is imported by its code, run by its commands, or types. */
function assertEachIsNeeded(blocks) {
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const code = blocks.filter(({ language }) => language !== 'sh').map(({ text }) => text);
  const installed = commands.flatMap((text) =>
    [...text.matchAll(/^npm install (?:--save-dev )?(.*)$/gm)].flatMap(([, names]) => names.split(' ')),
  );
  for (const name of installed.map((each) => each.replace(/(?<=.)@.*/, ''))) {
    const isImported = code.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
    const isRun = commands.some((text) => text.includes(`npx ${name.split('/').at(-1)}`));
    if (!isImported && !isRun && !name.startsWith('@types/') && !neededByOthers.has(name))
      throw new Error(`nothing needs the package ${name}`);
  }
}

/** Peers of packages that the guides import. */
const neededByOthers = new Set(['graphql', 'rxjs', 'react']);

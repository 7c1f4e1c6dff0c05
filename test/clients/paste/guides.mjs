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
import { EmptyPages } from '../shared/empty-pages.ts';
import { MisbehavingProxy, words } from '../shared/misbehaving-proxy.ts';
import { driveReactGuide } from './react-guide.mjs';

const run = promisify(execFile);
const here = import.meta.dirname;
const compiler = join(here, '../../../node_modules/@typescript/native/bin/tsc');

/** How many guides are pasted at the same time. */
const atATime = 8;

/** What a reader has besides, or sees in a browser. */
const others = { react: driveReactGuide };

/** What the requests of a guide meet, one after another. */
const troubles = [
  'reset',
  'badGateway',
  'lost',
  'throttled',
  'gatewayTimeout',
  'unavailable',
  'cut',
  'restart',
  'silent',
];

/**
 * Pastes the guides whose names match `pattern`, each at a service of its own, several at a time, because they wait.
 * Without `isInstalled`, npm's own commands use the packages that are installed here, and the service misbehaves; with
 * it, what npm installs today.
 */
export async function pasteGuides({ besideService, key, isInstalled = false, pattern = '' }) {
  const commands = isInstalled ? [] : [writeCommands()];
  const path = [...commands, process.env.PATH].join(':');
  const pages = [...graphqlGuides()];
  const rest = guidesIn(restGuides()).map((text) => [/^## (?:Guide: )?(.*)/.exec(text)[1], text]);
  const parent = mkdtempSync(join(tmpdir(), 'petstore-guides-'));
  const compiled = [];
  const pasteOne = async ([name, text]) => {
    const folder = mkdtempSync(join(parent, `${name.replaceAll(' ', '-')}-`));
    const env = { ...process.env, PATH: path, KEY: key, NO_COLOR: '1', CURL_HOME: folder };
    await besideService(async (service) => {
      const emptyPages = await EmptyPages.start(service.url);
      // A person asks for page after page.
      emptyPages.isOn = others[name] === undefined;
      const proxy = await MisbehavingProxy.start(emptyPages.url, [], service.restart);
      const reader = { folder, service, env, proxy, emptyPages };
      let blocks;
      try {
        for (const before of setUpOf(text, new Map(pages))) await paste(before, reader);
        if (!isInstalled) proxy.misbehave(troublesOf(text));
        blocks = await paste(text, reader);
        await others[name]?.(reader);
        if (!isInstalled) await meetAll(blocks, reader);
      } finally {
        await proxy.close();
        emptyPages.close();
      }
      if (!isInstalled) assertEachIsNeeded(blocks);
      if (blocks.some(({ language }) => /^tsx?$/.test(language))) compiled.push(folder);
    });
  };
  try {
    const guides = [...pages, ...rest].filter(
      ([name, text]) => name !== 'set-up' && new RegExp(pattern).test(name) && text.includes('```sh'),
    );
    const failures = [];
    const pasteNext = async () => {
      for (let guide = guides.shift(); guide !== undefined; guide = guides.shift())
        await step(`The guide ${guide[0]}`, pasteOne.bind(undefined, guide)).catch((error) =>
          failures.push(error.message),
        );
    };
    await Promise.all(Array.from({ length: atATime }, pasteNext));
    if (failures.length > 0) throw new Error(failures.join('\n'));
    if (compiled.length > 0) await step('The types of the guides', () => compile(parent, compiled[0]));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Each other request is passed on. */
function troublesOf(text) {
  const shell = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands).join('');
  const left = troubles.filter((each) => {
    // curl has printed a part of a response when it is cut off.
    if (each === 'cut') return !/\$KEY/.test(shell);
    // A PATCH that was carried out changes the state that its second attempt expects.
    return !/If-Match/.test(shell) || !['lost', 'restart'].includes(each);
  });
  return left.flatMap((each) => [each, 'passed']);
}

/**
 * Runs the last command again until its requests have met everything, and once more where they are refused for long: it
 * ends with the words of the refusal, and shows no stack trace.
 */
async function meetAll(blocks, { proxy, ...reader }) {
  const last = blocks.findLastIndex(({ language, text }) => language === 'sh' && /\bnode |python3|curl/.test(text));
  if (last === -1 || proxy.idempotencyKeys.length === 0) return;
  for (let run = 1; proxy.left.length > 0; run += 1) {
    if (run > troubles.length * 2) throw new Error(`nothing has met ${proxy.left.join(', ')}`);
    await runBlock(blocks, last, { proxy, ...reader });
  }
  const isFollowing = blocks.some(({ text }) => text.includes('position.txt'));
  proxy.misbehave(Array(20).fill(isFollowing ? 'unauthenticated' : 'spentDay'));
  const { stdout, stderr } = await runShell(blocks[last].text, reader).catch((error) => error);
  if (!`${stdout}${stderr}`.includes(words) || /^ +at |Traceback/m.test(stderr))
    throw new Error(`Refused, it prints\n${stdout}${stderr}`);
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

/** What a guide names as that from which it goes on. */
function setUpOf(text, pages) {
  const [introduction, types] = guidesIn(pages.get('set-up'));
  const retries = guidesIn(pages.get('retries'));
  return [
    ...(/\((?:\.|\/docs\/graphql)\/set-up\)/.test(text) ? [introduction] : []),
    ...(text.includes('set-up#types-of-documents') ? [types] : []),
    ...(text.includes('`retrying-fetch.ts` of [') ? retries.filter((part) => part.startsWith('## In TypeScript')) : []),
    // What curl reads.
    ...retries.filter((part) => part.startsWith('## With curl')),
  ];
}

/**
 * Does what the blocks of a guide say, in their order. A block of text, or of JSON that is no file, is what the command
 * before it prints.
 */
async function paste(guide, reader) {
  const blocks = blocksOf(guide.replaceAll('http://127.0.0.1:4000', reader.proxy.url));
  const begun = new Set();
  for (const [index, { language, file, text }] of blocks.entries()) {
    if (language === 'sh') await runBlock(blocks, index, reader);
    else if (file !== undefined) {
      if (begun.has(file)) appendFileSync(join(reader.folder, file), `\n${text}`);
      else writeFileSync(join(reader.folder, file), text);
      begun.add(file);
    }
  }
  return blocks;
}

/** curl prints a response that it doesn't take, too. */
async function runBlock(blocks, index, reader) {
  const { text } = blocks[index];
  let { stdout } = await runShell(text, reader);
  for (const body of reader.proxy.refused) stdout = stdout.replaceAll(body, '');
  const next = blocks[index + 1];
  if (next !== undefined && isOutput(next)) assertPrints(stdout, next.text, text);
}

function runShell(text, { folder, env }) {
  const command = text.replace(/^export KEY=….*$/m, '').replaceAll('…', '');
  return run('sh', ['-ec', command], { cwd: folder, env, timeout: 180_000 });
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

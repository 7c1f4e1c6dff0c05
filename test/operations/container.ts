import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from '@jest/globals';

import { repository } from '../support/running-command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { deployFile } from './guide.ts';

/** What a container of the image starts. */
export interface BuiltImage {
  readonly directory: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

interface Stage {
  readonly root: string;
  workingDirectory: string;
  command: readonly string[];
  readonly environment: Record<string, string>;
}

/**
 * Carries out a Dockerfile without a container engine: a folder for each stage, and its very RUN commands in there, but
 * that packages are linked from here, where they have been installed from the same files, instead of installed again.
 */
export function buildImage(): BuiltImage {
  const base = temporaryDirectory();
  const context = join(base, 'context');
  copyTrackedFiles(context);
  // As it is kept for the next build, which builds again what isn't from the same files.
  link(join(repository, 'dist'), join(context, 'dist'));
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const line of deployFile('Dockerfile', []).split('\n')) {
    const [instruction, ...words] = line.split(' ');
    if (instruction === 'FROM') {
      stage = { root: join(base, `stage-${stages.size}`), workingDirectory: '/', command: [], environment: {} };
      mkdirSync(stage.root);
      stages.set(words[2] ?? 'final', stage);
    } else if (stage !== undefined && !carryOut(stage, instruction ?? '', words, { context, stages })) {
      throw new Error(`Unknown instruction: ${line}`);
    }
  }
  const { root, workingDirectory, command, environment } = stages.get('final')!;
  return { directory: join(root, workingDirectory), command, environment };
}

interface Sources {
  readonly context: string;
  readonly stages: ReadonlyMap<string, Stage>;
}

/** False for an instruction that isn't known here. */
function carryOut(stage: Stage, instruction: string, words: readonly string[], sources: Sources): boolean {
  const text = words.join(' ');
  if (['', '#', 'USER', 'EXPOSE', 'LABEL'].includes(instruction)) return true;
  if (instruction === 'WORKDIR') stage.workingDirectory = text;
  else if (instruction === 'CMD') stage.command = JSON.parse(text) as string[];
  else if (instruction === 'ENV') Object.assign(stage.environment, Object.fromEntries([text.split('=')]));
  else if (instruction === 'COPY') copy(stage, words, sources);
  else if (instruction === 'RUN') {
    const cwd = join(stage.root, stage.workingDirectory);
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
    if (text === 'npm ci') installPackages(cwd);
    else execFileSync('sh', ['-c', text], { cwd, env, stdio: 'pipe' });
  } else return false;
  return true;
}

/** The build writes a new list of the packages into the same file. */
function installPackages(directory: string): void {
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    expect(readFileSync(join(directory, file))).toEqual(readFileSync(join(repository, file)));
  const [from, to] = [repository, directory].map((each) => join(each, 'node_modules')) as [string, string];
  link(from, to, '* .bin');
  cpSync(join(from, '.package-lock.json'), join(to, '.package-lock.json'));
}

/** What is removed or replaced there later stays as it is here. Copies where these are two file systems. */
function link(from: string, to: string, names = '.'): void {
  const command = `cp -alf ${names} "$1" || cp -a ${names} "$1"`;
  mkdirSync(to, { recursive: true });
  execFileSync('sh', ['-c', command, 'sh', to], { cwd: from, stdio: 'pipe' });
}

function copy(stage: Stage, words: readonly string[], { context, stages }: Sources): void {
  const from = /^--from=(.+)$/.exec(words[0]!)?.[1];
  const root = from === undefined ? context : stages.get(from)!.root;
  const paths = from === undefined ? words.slice(0, -1) : words.slice(1, -1);
  const target = join(stage.root, stage.workingDirectory, words.at(-1)!);
  for (const path of paths) {
    const source = join(root, path);
    if (statSync(source).isDirectory()) link(source, target);
    else cpSync(source, words.at(-1)!.endsWith('/') ? join(target, path.split('/').at(-1)!) : target);
  }
}

/** A clean clone without what is ignored. */
function copyTrackedFiles(target: string): void {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
  });
  for (const file of files.toString().split('\0').filter(Boolean)) {
    const isThere = statSync(join(repository, file), { throwIfNoEntry: false }) !== undefined;
    if (isThere && !isIgnored(file)) cpSync(join(repository, file), join(target, file), { recursive: true });
  }
}

/** As `Dockerfile.dockerignore` has it. */
function isIgnored(file: string): boolean {
  return file.startsWith('test/') && !file.startsWith('test/clients/');
}

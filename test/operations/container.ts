import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

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
 * that packages are copied from here, where they are locked, instead of being installed again.
 */
export function buildImage(): BuiltImage {
  const base = temporaryDirectory();
  const context = join(base, 'context');
  copyTrackedFiles(context);
  // As they are kept for the next build: it builds them again unless they are from the same files.
  for (const page of ['dist/docs', 'dist/explorer'])
    cpSync(join(repository, page), join(context, page), { recursive: true });
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
  if (['', '#', 'USER', 'EXPOSE'].includes(instruction)) return true;
  if (instruction === 'WORKDIR') stage.workingDirectory = text;
  else if (instruction === 'CMD') stage.command = JSON.parse(text) as string[];
  else if (instruction === 'ENV') Object.assign(stage.environment, Object.fromEntries([text.split('=')]));
  else if (instruction === 'COPY') copy(stage, words, sources);
  else if (instruction === 'RUN') {
    const cwd = join(stage.root, stage.workingDirectory);
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
    const isInstallation = text === 'npm ci';
    execFileSync('sh', ['-c', isInstallation ? `${text} --dry-run` : text], { cwd, env, stdio: 'pipe' });
    // Those here have been installed by the same command.
    if (isInstallation) execFileSync('cp', ['-a', '--reflink=auto', join(repository, 'node_modules'), cwd]);
  } else return false;
  return true;
}

function copy(stage: Stage, words: readonly string[], { context, stages }: Sources): void {
  const from = /^--from=(.+)$/.exec(words[0]!)?.[1];
  const root = from === undefined ? context : stages.get(from)!.root;
  const paths = from === undefined ? words.slice(0, -1) : words.slice(1, -1);
  const target = join(stage.root, stage.workingDirectory, words.at(-1)!);
  for (const path of paths) {
    const source = join(root, path);
    const isInto = words.at(-1)!.endsWith('/') && statSync(source).isFile();
    cpSync(source, isInto ? join(target, path.split('/').at(-1)!) : target, {
      recursive: true,
      verbatimSymlinks: true,
    });
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

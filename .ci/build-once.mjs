// A folder that is built from files, and built anew only when they have changed. Builds at the same time, of `npm start`
// beside `npm run dev` for example, don't meet: each fills a folder of its own, and renames it when it is complete.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files, and what they import of this project, however far. */
export function withImports(files) {
  const found = new Set(files);
  // A set goes on with what is added to it.
  for (const file of found) {
    if (!/\.m?[jt]sx?$/.test(file)) continue;
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/\b(?:from|import) ?\(?'(\.[^']+)'/g)) {
      const imported = join(dirname(file), path);
      if (existsSync(imported)) found.add(imported);
    }
  }
  return [...found];
}

/** Of the names and contents of these files. */
export function fingerprintOf(files) {
  const hash = createHash('sha256');
  for (const file of files.toSorted()) hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

export function isBuilt(target, builtFrom) {
  try {
    return readFileSync(join(target, 'built-from'), 'utf8') === builtFrom;
  } catch {
    return false;
  }
}

/** Has `build` fill a folder, and puts that in the place of `target`, unless it is there from the same files. */
export async function buildOnce(target, builtFrom, build) {
  if (isBuilt(target, builtFrom)) return;
  const folder = join(dirname(target), `.build-${randomUUID()}`);
  mkdirSync(folder, { recursive: true });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    await build(folder);
    writeFileSync(join(folder, 'built-from'), builtFrom);
    // Another build may have been faster: what a process has begun to load stays where it is.
    if (!isBuilt(target, builtFrom)) replace(target, folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function replace(target, folder) {
  const old = `${folder}-old`;
  for (;;) {
    unless('ENOENT', () => renameSync(target, old));
    const isReplaced = unless('ENOTEMPTY', () => renameSync(folder, target));
    rmSync(old, { recursive: true, force: true });
    if (isReplaced) return;
  }
}

/** Returns whether it was done; false after an error with this code. */
function unless(code, work) {
  try {
    work();
    return true;
  } catch (error) {
    if (error.code !== code) throw error;
    return false;
  }
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './measured-service.ts';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

/** What has to be there to run the service, in megabytes. */
export interface InstalledSize {
  /** What `npm ci --omit=dev` installs. */
  readonly packages: number;
  readonly program: number;
  /** The largest packages, each without those inside it. */
  readonly largest: readonly { readonly path: string; readonly megabytes: number }[];
}

export function measureInstalledSize(): InstalledSize {
  const lockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const sizes = Object.entries(lockFile.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path]) => ({ path: path.replace(/^node_modules\//, ''), megabytes: megabytesIn(join(root, path)) }))
    .toSorted((a, b) => b.megabytes - a.megabytes);
  return {
    packages: sizes.reduce((sum, { megabytes }) => sum + megabytes, 0),
    program: megabytesIn(join(root, 'dist')),
    largest: sizes.slice(0, 5),
  };
}

/** A package for another platform isn't there; one inside another has an entry of its own. */
function megabytesIn(directory: string): number {
  const bytes = (folder: string): number =>
    readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => name !== 'node_modules')
      .map((entry) => (entry.isDirectory() ? bytes(join(folder, entry.name)) : statSync(join(folder, entry.name)).size))
      .reduce((sum, each) => sum + each, 0);
  return statSync(directory, { throwIfNoEntry: false }) === undefined ? 0 : bytes(directory) / 1024 / 1024;
}

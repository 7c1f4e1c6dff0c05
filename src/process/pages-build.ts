import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';

import { pendingPages } from '../pages/pending-pages.ts';
import { notify } from './service-process.ts';

/** Builds the pages that `npm start` has found missing, in a process that ends with this one and gives way to it. */
export function buildPendingPages(): void {
  if (!existsSync(pendingPages)) return;
  const directory = dirname(dirname(pendingPages));
  const child = spawn(process.execPath, [join('.ci', 'build-pages.mjs')], {
    cwd: directory,
    // VitePress is a process of its own: a signal is for both.
    detached: true,
    stdio: ['ignore', 2, 2],
  });
  child.unref();
  const { pid } = child;
  child.once('error', (error) => notify(`The pages are not built: ${error.message}`));
  if (pid === undefined) return;
  setPriority(pid, 10);
  const stop = (): void => {
    try {
      process.kill(-pid);
    } catch {
      // It has just ended by itself.
    }
  };
  process.once('exit', stop);
  child.once('close', (code) => {
    process.off('exit', stop);
    if (code === 0) return;
    rmSync(pendingPages, { force: true });
    notify('The pages are not built: `npm run build` says why.');
  });
}

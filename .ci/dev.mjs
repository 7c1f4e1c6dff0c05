// `npm run dev`: builds and starts the service, and does so again whenever a source file changes. While a build fails,
// the service of the last good one goes on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, watch } from 'node:fs';

/** An editor that saves several files, or a checkout, is one change. */
const settleMillis = 200;

let service;
let isBuilding = false;
let isOutdated = true;
let settling;

const watchers = new Map();

watchDirectories();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await stop();
    process.exit(0);
  });
}
await rebuild();

/**
 * One watcher for each directory: a recursive one of Node 24 loses files that an editor replaces by renaming (on
 * Linux).
 */
function watchDirectories() {
  const directories = new Set(globSync('{src,migrations}{,/**/}'));
  for (const [directory, watcher] of watchers) {
    if (directories.has(directory)) continue;
    watcher.close();
    watchers.delete(directory);
  }
  for (const directory of directories) {
    if (!watchers.has(directory)) watchers.set(directory, watch(directory, noteChange));
  }
}

function noteChange() {
  isOutdated = true;
  clearTimeout(settling);
  settling = setTimeout(rebuild, settleMillis);
}

async function rebuild() {
  watchDirectories();
  if (isBuilding) return;
  isBuilding = true;
  while (isOutdated) {
    isOutdated = false;
    const [code] = await once(spawn('npm', ['run', '-s', 'build'], { stdio: ['ignore', 2, 2] }), 'close');
    if (code !== 0) process.stderr.write('The build has failed; the next change starts another.\n');
    else if (!isOutdated) await restart();
  }
  isBuilding = false;
}

async function restart() {
  await stop();
  const env = { NODE_ENV: 'development', DRAIN_TIMEOUT: '1s', ...process.env };
  service = spawn(process.execPath, ['dist/src/main.js'], { env, stdio: 'inherit' });
}

/** The next service needs the port and the embedded database, so it starts when this one has ended. */
async function stop() {
  if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
  service.kill('SIGTERM');
  await once(service, 'close');
}

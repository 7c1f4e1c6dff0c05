import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';

/**
 * Every way in which a promise could be left to itself. Each line is an error of the linter's: a directive without one
 * is an error too (`reportUnusedDisableDirectives`), so a rule that is switched off shows in `npm run check`.
 */
async function work(): Promise<void> {
  await Promise.resolve();
}

const emitter = new EventEmitter();

// oxlint-disable-next-line typescript/no-floating-promises
work();
// oxlint-disable-next-line typescript/no-floating-promises
void work();
// oxlint-disable-next-line typescript/no-floating-promises
work().then(() => undefined);
// oxlint-disable-next-line no-void
setTimeout(() => void work(), 1);
// oxlint-disable-next-line typescript/no-misused-promises
setTimeout(work, 1);
// oxlint-disable-next-line typescript/no-misused-promises
setInterval(() => work(), 1);
// oxlint-disable-next-line typescript/no-misused-promises
setImmediate(async () => work());
// oxlint-disable-next-line typescript/no-misused-promises
queueMicrotask(async () => work());
// oxlint-disable-next-line typescript/no-misused-promises
emitter.on('event', async () => work());
// oxlint-disable-next-line typescript/no-misused-promises
emitter.once('event', work);
// oxlint-disable-next-line typescript/no-misused-promises
createServer(async (_request, response) => response.end()).on('close', work);

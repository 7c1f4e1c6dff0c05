import { once } from 'node:events';
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { PGLiteSocketHandler, type PGLiteSocketHandlerOptions } from '@electric-sql/pglite-socket';

import { clusterDirectory, confirmCluster } from './cluster.ts';
import { SessionQueue } from './session-queue.ts';

export interface EngineSettings {
  readonly dataDir: string;
  readonly socketPath: string;
}

/** The messages of the engine's thread; it listens for one message, `close`. */
export type EngineMessage = 'ready' | 'closed';

const maxConnections = 16;

/** PGlite's default is 160 MB, all touched at the start; the system's file cache holds the rest. */
const sharedBuffers = '32MB';

const port = parentPort;
if (port === null) throw new Error('engine.worker runs in a worker thread only');
const say = (message: EngineMessage): void => port.postMessage(message);
const settings = workerData as EngineSettings;

const database = await PGlite.create({
  dataDir: clusterDirectory(settings.dataDir),
  extensions: { pg_trgm },
  startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${sharedBuffers}`],
  relaxedDurability: false,
});
confirmCluster(settings.dataDir);

const queue = new SessionQueue(database, endThread);
const handlers = new Set<PGLiteSocketHandler>();

const server = createServer((socket) => {
  // The library names its own class with its private fields, and calls the methods that ours has.
  const queryQueue = queue as unknown as PGLiteSocketHandlerOptions['queryQueue'];
  const handler = new PGLiteSocketHandler({ queryQueue, closeOnDetach: true });
  const forget = (): void => {
    handlers.delete(handler);
  };
  handlers.add(handler);
  handler.addEventListener('close', forget);
  handler.addEventListener('error', forget);
  handler.attach(socket).catch(() => socket.destroy());
});
server.maxConnections = maxConnections;
server.listen(settings.socketPath);
await once(server, 'listening');

port.once('message', () => {
  close().catch(endThread);
});
say('ready');

async function close(): Promise<void> {
  server.close();
  await Promise.all([...handlers].map((handler) => handler.detach(true)));
  await queue.close();
  await database.close();
  say('closed');
}

/** Throws outside of any promise, so that the failure reaches the service as the worker's error. */
function endThread(failure: unknown): void {
  setImmediate(() => {
    throw failure;
  });
}

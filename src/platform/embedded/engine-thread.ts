import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';

import { inBackground } from '../background.ts';
import type { EngineMessage, EngineSettings } from './engine.worker.ts';

/**
 * A running statement can't be cancelled: after this the thread is killed, which loses nothing that was acknowledged.
 */
const closeTimeoutMillis = 5_000;

/**
 * PostgreSQL's own limit, `max_stack_depth`, must be reached before V8's, which crashes the engine: Node's 4 MB for a
 * thread are too small for a deep recursion; 16 MB are enough.
 */
const stackSizeMb = 32;

/**
 * V8 leaves the engine as its baseline compiler has made it. Optimising takes 500 MB at once for one function of
 * PGlite's, and more processor time than a small store ever gets back: see the README. `--liftoff-only` says the other
 * two only on the command line.
 */
const withoutOptimiser = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

/** The thread in which the engine and its socket live. */
export interface EngineThread {
  /** Resolves when the thread is gone: with undefined after `close`, with the reason otherwise. */
  readonly ended: Promise<Error | undefined>;
  close(): Promise<void>;
}

/**
 * Starts the engine's thread; the caller holds the data directory's lock until `ended`. Resolves when the socket
 * listens, and rejects when the thread has ended before.
 */
export async function startEngineThread(settings: EngineSettings): Promise<EngineThread> {
  const file = new URL(`./engine.worker${extname(import.meta.filename)}`, import.meta.url);
  for (const flag of withoutOptimiser) setFlagsFromString(flag);
  const worker = new Worker(file, { workerData: settings, resourceLimits: { stackSizeMb } });
  let failure = new Error('The embedded PostgreSQL has stopped by itself');
  let isClosing = false;

  worker.on('error', (error: unknown) => {
    failure = new Error(`The embedded PostgreSQL has stopped: ${messageOf(error)}`, { cause: error });
  });
  const ended = new Promise<Error | undefined>((resolve) => {
    worker.once('exit', () => resolve(isClosing ? undefined : failure));
  });
  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: EngineMessage) => {
      if (message === 'ready') resolve();
      else inBackground(worker.terminate());
    });
    inBackground(ended.then(() => reject(failure)));
  });

  return {
    ended,
    close: async () => {
      if (!isClosing) worker.postMessage('close');
      isClosing = true;
      const timer = setTimeout(() => inBackground(worker.terminate()), closeTimeoutMillis);
      await ended;
      clearTimeout(timer);
    },
  };
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

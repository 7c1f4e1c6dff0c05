import type { Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

export interface DrainOptions {
  /** How long requests are still accepted, so that a load balancer notices. */
  readonly delaySeconds: number;
  /** How long those under way may take after that. */
  readonly timeoutSeconds: number;
  /** Asks who hands over connections to this process to do so no more; those handed over before have arrived then. */
  readonly stopHandingOver?: (() => Promise<void>) | undefined;
}

/**
 * Closes the server without failing a request: keeps serving during the delay, then stops listening and finishes what
 * is under way. Requests still under way at the timeout are aborted.
 */
export async function drain(
  server: FastifyInstance,
  { delaySeconds, timeoutSeconds, stopHandingOver }: DrainOptions,
): Promise<void> {
  server.connections.startDraining();
  if (delaySeconds > 0) await sleep(delaySeconds * 1000);
  const deadline = setTimeout(() => server.connections.destroyAll(), timeoutSeconds * 1000);
  try {
    await untilQuiet(server.server);
    await stopHandingOver?.();
    server.server.close();
    await server.close();
  } finally {
    clearTimeout(deadline);
  }
}

/**
 * Listening stops when no connection has come for so long. While connections go on coming, the time that is asked for
 * gets shorter: after a second, one tick of the event loop without any is enough.
 */
const quietMillis = 2;
const maxListenMillis = 3_000;

/** In a tick that is this short hardly a connection arrives between its poll and its end. */
const shortTickMillis = 0.2;

/**
 * Resolves when no connection waits to be accepted: the kernel resets those that wait when listening stops, and a proxy
 * doesn't repeat a POST that it has sent.
 *
 * Model: each tick of the event loop accepts one connection, so none waits in a tick that has accepted none.
 * Failures: a connection that comes between the poll of that tick and `close` is reset. Linux has no way to refuse new
 * connections and keep those that wait: `close` and `shutdown` reset them, and a queue of length 0 still takes one. A
 * second socket could take them over (`SO_REUSEPORT`), but only the operator can set `net.ipv4.tcp_migrate_req`.
 */
async function untilQuiet(server: Server): Promise<void> {
  const beganAt = performance.now();
  let now = beganAt;
  let quietSince = beganAt;
  const onConnection = (): void => {
    quietSince = Infinity;
  };
  server.on('connection', onConnection);
  for (let isQuiet = false; !isQuiet && now - beganAt < maxListenMillis;) {
    const tickBeganAt = now;
    // Comes right after the poll for connections and requests.
    await nextTick();
    now = performance.now();
    if (now - tickBeganAt > shortTickMillis) quietSince = Infinity;
    isQuiet = now - quietSince >= quietMillis * (1 - (now - beganAt) / 1_000);
    quietSince = Math.min(quietSince, now);
  }
  server.off('connection', onConnection);
}

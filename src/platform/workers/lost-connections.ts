import type { Worker } from 'node:cluster';

interface Connection {
  close(): void;
}

/** To which worker a connection was handed last. */
const handedTo = new WeakMap<object, Worker>();

/**
 * Closes the connections that a worker has been handed and not taken when it ends. `node:cluster` of Node 22 and 24
 * forgets them, and keeps them open: their clients would wait for ever. It hands a connection over by `send` of the
 * worker's process, one for each listener at a time, and closes its own copy when the worker has taken it.
 */
export function closeLostConnections(worker: Worker): void {
  const child = worker.process;
  const send = child.send.bind(child);
  const lastOf = new Map<unknown, Connection>();
  Object.assign(child, {
    send: (message: { readonly key?: unknown }, handle?: Connection, ...rest: []) => {
      if (handle !== undefined && handle !== null) {
        handedTo.set(handle, worker);
        lastOf.set(message.key, handle);
      }
      return send(message, handle as never, ...rest);
    },
  });
  worker.once('exit', () => {
    // Nothing happens to one that is closed already.
    for (const connection of lastOf.values()) if (handedTo.get(connection) === worker) connection.close();
  });
}

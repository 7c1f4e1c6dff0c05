import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import type { ConnectionReport } from './connection-queue.ts';

/**
 * Has the server of a worker serve the connections that the primary hands over, as if it listened. It tells the primary
 * once in a tick how many it has taken, and how many of them are open.
 */
export function serveHandedConnections(server: Server): void {
  let taken = 0;
  let open = 0;
  let isScheduled = false;
  const report = (): void => {
    isScheduled = false;
    // A primary that has ended ends this process.
    process.send?.({ taken, open } satisfies ConnectionReport, undefined, {}, () => undefined);
  };
  const scheduleReport = (): void => {
    if (!isScheduled) setImmediate(report);
    isScheduled = true;
  };
  process.on('message', (_message, socket: Socket | undefined) => {
    taken += 1;
    scheduleReport();
    // Closed on its way.
    if (socket === undefined) return;
    open += 1;
    socket.once('close', () => {
      open -= 1;
      scheduleReport();
    });
    // As Node's server makes those that it accepts itself.
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    server.emit('connection', socket);
  });
  // Node's server checks the time-outs of requests from this event on.
  server.emit('listening');
}

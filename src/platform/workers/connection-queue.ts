import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Socket } from 'node:net';

/** What a worker says of its connections: how many it has been handed, and how many of them are open. */
export interface ConnectionReport {
  readonly taken: number;
  readonly open: number;
}

export interface ConnectionQueueOptions {
  /** Connections that may wait until a worker takes them. */
  readonly maxWaiting: number;
  /** Connections that a worker may hold. */
  readonly maxOfWorker: number;
  /** A connection is closed because there is no room for it. */
  readonly onRefusal: () => void;
}

interface Receiver {
  readonly process: ChildProcess;
  /** Has been handed over, and isn't taken yet. */
  handed: Socket | undefined;
  sent: number;
  /** Those that it has taken and not closed. */
  open: number;
  /** It wants no more; resolves when it gets no more. */
  stopping: PromiseWithResolvers<void> | undefined;
}

/**
 * The connections of all workers: accepted here, and each handed to the worker that holds the fewest. A worker gets the
 * next one when it has taken the one before, so that one that hangs or starts keeps nobody from the others.
 *
 * The socket is sent with `keepOpen` and closed here when the worker says that it has taken it, or has ended. Without
 * that Node (22, 24) would itself close the copy when the worker has read the message, and leave it open for ever when
 * the worker ends before.
 */
export class ConnectionQueue {
  readonly #options: ConnectionQueueOptions;
  readonly #server = createServer({ pauseOnConnect: true }, (socket) => this.#accept(socket));
  readonly #waiting: Socket[] = [];
  readonly #receivers = new Map<string, Receiver>();

  constructor(options: ConnectionQueueOptions) {
    this.#options = options;
  }

  async listen(options: ListenOptions): Promise<AddressInfo> {
    await once(this.#server.listen(options), 'listening');
    // A connection that can't be accepted, for want of descriptors: the client tries again.
    this.#server.on('error', () => this.#options.onRefusal());
    return this.#server.address() as AddressInfo;
  }

  /** From now on the worker takes connections. */
  add(id: string, process: ChildProcess): void {
    const receiver: Receiver = { process, handed: undefined, sent: 0, open: 0, stopping: undefined };
    this.#receivers.set(id, receiver);
    process.on('message', (report) => this.#onReport(receiver, report as ConnectionReport));
    this.#handOver();
  }

  /** The worker has ended: so does the connection that it may not have taken. */
  remove(id: string): void {
    const receiver = this.#receivers.get(id);
    if (receiver === undefined) return;
    receiver.handed?.destroy();
    this.#receivers.delete(id);
    this.#handOver();
  }

  /**
   * Resolves when the worker gets no further connection. The last worker first gets those that wait here, and with it
   * listening stops.
   */
  async stopHandingTo(id: string): Promise<void> {
    const receiver = this.#receivers.get(id);
    if (receiver === undefined) return;
    receiver.stopping ??= Promise.withResolvers();
    this.#handOver();
    await receiver.stopping.promise;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    this.#waiting.push(socket);
    this.#handOver();
    if (this.#waiting.length > this.#options.maxWaiting) this.#refuse(this.#waiting.pop());
  }

  #refuse(socket: Socket | undefined): void {
    socket?.destroy();
    this.#options.onRefusal();
  }

  #onReport(receiver: Receiver, { taken, open }: ConnectionReport): void {
    receiver.open = open;
    if (taken === receiver.sent) {
      receiver.handed?.destroy();
      receiver.handed = undefined;
    }
    this.#handOver();
  }

  #handOver(): void {
    while (this.#waiting.length > 0) {
      const receivers = this.#serving();
      if (receivers.length > 0 && receivers.every((each) => this.#isFull(each))) {
        this.#refuse(this.#waiting.shift());
        continue;
      }
      const free = receivers.filter((each) => each.handed === undefined && !this.#isFull(each));
      const [first] = free;
      if (first === undefined) break;
      this.#send(free.reduce((fewest, each) => (each.open < fewest.open ? each : fewest), first));
    }
    this.#stopSome();
  }

  /** The workers that take connections; those that stop do while nobody else does. */
  #serving(): Receiver[] {
    const all = [...this.#receivers.values()];
    const going = all.filter(({ stopping }) => stopping === undefined);
    return going.length > 0 ? going : all;
  }

  #isFull({ open, handed }: Receiver): boolean {
    return open + Number(handed !== undefined) >= this.#options.maxOfWorker;
  }

  #send(receiver: Receiver): void {
    const socket = this.#waiting.shift();
    if (socket === undefined) return;
    receiver.handed = socket;
    receiver.sent += 1;
    // A failure means that the worker ends, which closes the connection.
    receiver.process.send('connection', socket, { keepOpen: true }, () => undefined);
  }

  #stopSome(): void {
    const isEmpty = this.#waiting.length === 0;
    for (const [id, { stopping, handed }] of this.#receivers) {
      const isLast = this.#serving().every((each) => each.stopping !== undefined);
      if (stopping === undefined || handed !== undefined || (isLast && !isEmpty)) continue;
      this.#receivers.delete(id);
      if (this.#receivers.size === 0) this.#server.close();
      stopping.resolve();
    }
  }
}

import { connect, type Socket } from 'node:net';

import { until } from '../../support/until.ts';
import { pause } from '../raw-requests.ts';

/** What clients without a key ask for, again and again. */
export interface Flood {
  /** The requests of a connection, one after another. */
  readonly texts: readonly string[];
  readonly connections: number;
  /** How many addresses they come from: 127.0.1.1 and the following ones. */
  readonly addresses: number;
  /** How long a connection lasts: for all of its requests, or for one, and whether that has its response before. */
  readonly lasts: 'kept' | 'reset after' | 'reset before';
}

/** The connections of a flood while it lasts, and what they got. */
class Attackers {
  readonly statuses: string[] = [];
  /** How many connections were opened so far. */
  opened = 0;
  readonly #port: number;
  readonly #plan: Flood;
  readonly #open = new Set<Socket>();
  #isOver = false;

  constructor(port: number, plan: Flood) {
    this.#port = port;
    this.#plan = plan;
    for (let index = 0; index < plan.connections; index += 1) this.#connect(index, index);
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#open) socket.resetAndDestroy();
  }

  /** The connection of this number, which goes on with the requests where the one before it has ended. */
  #connect(index: number, from: number): void {
    if (this.#isOver) return;
    const { texts, addresses, lasts } = this.#plan;
    let sent = from;
    const send = (): void => {
      socket.write(texts[sent % texts.length]!);
      sent += 1;
    };
    const localAddress = `127.0.1.${1 + (index % addresses)}`;
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress }, () => {
      this.opened += 1;
      send();
      if (lasts === 'reset before') setImmediate(() => socket.resetAndDestroy());
    });
    this.#open.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1', 0, 12))?.[1];
      // Further parts of a response.
      if (status === undefined) return;
      this.statuses.push(status);
      if (lasts === 'kept') send();
      else socket.resetAndDestroy();
    });
    socket.once('close', () => {
      this.#open.delete(socket);
      // Later: a service that refuses connections would leave no time for anything else here.
      setImmediate(() => this.#connect(index, sent));
    });
  }
}

/**
 * Opens the connections, and sends for so many seconds more, as fast as there are responses. Resolves with their
 * statuses.
 */
export async function flood(port: number, plan: Flood, seconds: number): Promise<readonly string[]> {
  const attackers = new Attackers(port, plan);
  await until(() => attackers.opened >= plan.connections);
  await pause(seconds);
  attackers.end();
  return attackers.statuses;
}

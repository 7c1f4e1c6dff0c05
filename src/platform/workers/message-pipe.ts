import type { Duplex } from 'node:stream';

import type { Message } from './channel.ts';

/** The file descriptor of the pipe in a worker: the four before it are standard streams and Node's own channel. */
export const pipeDescriptor = 4;

/**
 * Messages on a pipe between a primary and its worker, as lines of JSON. A pipe of their own: on Node's channel they
 * would wait behind each connection until the worker has taken it, and end when the worker stops listening.
 */
export class MessagePipe {
  readonly #pipe: Duplex;

  constructor(pipe: Duplex, onMessage: (message: Message) => void) {
    this.#pipe = pipe;
    let rest = '';
    pipe.setEncoding('utf8');
    pipe.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onMessage(JSON.parse(line) as Message);
    });
    // The other process has ended, which is noticed by its end.
    pipe.on('error', () => pipe.destroy());
  }

  send(message: Message): void {
    if (this.#pipe.writable) this.#pipe.write(`${JSON.stringify(message)}\n`);
  }
}

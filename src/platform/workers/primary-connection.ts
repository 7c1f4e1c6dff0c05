import { Socket } from 'node:net';

import { every, inBackground } from '../background.ts';
import { Channel, type Handlers, type Message } from './channel.ts';
import { MessagePipe, pipeDescriptor } from './message-pipe.ts';

/** The primary doesn't answer: it hangs, or is stopped. */
export class PrimarySilent extends Error {
  override readonly name = 'PrimarySilent';
}

/** The primary says every 500 ms that it is alive. Counted in checks of this process, which may have been stopped itself. */
const checkMillis = 500;
const maxQuietChecks = 4;

/** A worker's side of its primary. Make it first of all: the primary may want it to end while it starts. */
export class PrimaryConnection {
  readonly #channel: Channel;
  readonly #handlers: Record<string, (value: unknown) => unknown> = {};
  #quietChecks = 0;
  #stop: NodeJS.Signals | undefined;
  #onStop: (signal: NodeJS.Signals) => void;

  constructor(onStop: (signal: NodeJS.Signals) => void) {
    this.#onStop = onStop;
    const socket = new Socket({ fd: pipeDescriptor });
    // The primary has ended.
    socket.once('close', () => process.exit(1));
    const pipe = new MessagePipe(socket, (message) => this.#receive(message, pipe));
    this.#channel = new Channel((message) => pipe.send(message), this.#handlers);
    every(checkMillis, () => this.#check());
  }

  /** From now on this is called when the process has to end. */
  onStop(listener: (signal: NodeJS.Signals) => void): void {
    this.#onStop = listener;
    if (this.#stop !== undefined) listener(this.#stop);
  }

  /** Answers the primary's questions of that name. */
  handle(name: string, handler: Handlers[string]): void {
    this.#handlers[name] = handler;
  }

  /** Rejects with `PrimarySilent` when the primary is silent for two seconds; `late` gets an answer after that. */
  ask(name: string, value?: unknown, late?: (answer: unknown) => void): Promise<unknown> {
    return this.#isSilent ? Promise.reject(silence()) : this.#channel.ask(name, value, late);
  }

  /** Takes one more of what the client may hold only so many of; or returns how many it holds, where that is the most. */
  async lease(of: string, client: string, most: number): Promise<number | undefined> {
    const late = (held: unknown): void => {
      if (held === undefined) this.release(of, client);
    };
    return (await this.ask('lease', [of, client, most], late)) as number | undefined;
  }

  /**
   * The primary hands over no further connection. The server of this process is closed then, after those that have been
   * handed over before.
   */
  async stopListening(): Promise<void> {
    await this.ask('stop listening');
  }

  release(of: string, client: string): void {
    // A silent primary releases it later.
    inBackground(this.#channel.ask('release', [of, client]).catch(() => undefined));
  }

  #receive(message: Message, pipe: MessagePipe): void {
    const { stop } = message;
    this.#quietChecks = 0;
    if (stop !== undefined || Object.keys(message).length === 0) pipe.send({});
    if (stop !== undefined && this.#stop === undefined) {
      this.#stop = stop;
      this.#onStop(stop);
    }
    this.#channel.receive(message);
  }

  get #isSilent(): boolean {
    return this.#quietChecks >= maxQuietChecks;
  }

  #check(): void {
    this.#quietChecks += 1;
    if (this.#isSilent) this.#channel.fail(silence());
  }
}

function silence(): PrimarySilent {
  return new PrimarySilent('The primary of this worker has not answered for two seconds.');
}

import { Socket } from 'node:net';

import { every, inBackground } from '../background.ts';
import { Channel, type Handlers, type Message } from './channel.ts';
import type { ChildFailure } from './children.ts';
import { MessagePipe, pipeDescriptor } from './message-pipe.ts';

/** The parent doesn't respond: it hangs, or is stopped. */
export class ParentSilent extends Error {
  override readonly name = 'ParentSilent';
}

/** The parent says every 500 ms that it is alive. Counted in checks of this process, which may have been stopped itself. */
const checkMillis = 500;
const maxQuietChecks = 4;

/** A child's side of its parent. Make it first of all: the parent may want it to end while it starts. */
export class ParentConnection {
  readonly #channel: Channel;
  readonly #handlers: Record<string, (value: unknown) => unknown> = {};
  #quietChecks = 0;
  #stop: NodeJS.Signals | undefined;
  #onStop: (signal: NodeJS.Signals) => void;

  constructor(onStop: (signal: NodeJS.Signals) => void) {
    this.#onStop = onStop;
    const socket = new Socket({ fd: pipeDescriptor });
    // The parent has ended.
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

  /** The process has started: from now on it is watched, and asked to end instead of being killed. */
  async ready(): Promise<void> {
    await this.ask('ready');
  }

  /** Why the process can't start. */
  async failed(failure: ChildFailure): Promise<void> {
    await this.ask('failed', failure);
  }

  /** Responds to the parent's requests of that name. */
  handle(name: string, handler: Handlers[string]): void {
    this.#handlers[name] = handler;
  }

  /** Rejects with `ParentSilent` when the parent is silent for two seconds; `late` gets a response after that. */
  ask(name: string, value?: unknown, late?: (response: unknown) => void): Promise<unknown> {
    return this.#isSilent ? Promise.reject(silence()) : this.#channel.ask(name, value, late);
  }

  /** Takes one more of what the client may hold only so many of; or returns how many it holds, where that is the most. */
  async takeSlot(of: string, client: string, most: number): Promise<number | undefined> {
    const late = (held: unknown): void => {
      if (held === undefined) this.releaseSlot(of, client);
    };
    return (await this.ask('take slot', [of, client, most], late)) as number | undefined;
  }

  releaseSlot(of: string, client: string): void {
    // A silent parent releases it later.
    inBackground(this.#channel.ask('release slot', [of, client]).catch(() => undefined));
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

function silence(): ParentSilent {
  return new ParentSilent('The parent of this process has not responded for two seconds.');
}

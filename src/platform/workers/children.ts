import { type ChildProcess, fork } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';

import { every } from '../background.ts';
import { Channel, type Handlers } from './channel.ts';
import { MessagePipe, pipeDescriptor } from './message-pipe.ts';
import { forwardLines } from './whole-lines.ts';

/** How often a process says to its children that it is alive, and expects the same of them. */
const beatMillis = 500;
const maxQuietBeats = 20;

const firstRestartMillis = 200;
const maxRestartMillis = 5_000;
/** A child that has been ready for so long has started well. */
const steadyMillis = 1_000;

/** A child, as its parent sees it. */
export interface Child {
  readonly id: string;
  readonly process: ChildProcess;
  ask(name: string, value?: unknown): Promise<unknown>;
}

/** How a child has ended, and when the next one is started; undefined where none is. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly wasReady: boolean;
  /** Why it couldn't start, as it says. */
  readonly failure: ChildFailure | undefined;
  readonly restartMillis: number | undefined;
}

/** Why a child couldn't start, in words for people. */
export interface ChildFailure {
  readonly reason: string;
  /** Another start would end in the same way: a setting has to be changed. */
  readonly isFinal: boolean;
}

/** Where a child's log goes. */
export interface ChildOutput {
  /** Takes whole lines of its standard output. */
  readonly onLines: (lines: Buffer) => Promise<void>;
  /** Its last line is cut off, because it was killed. */
  readonly onCutLine: () => void;
}

export interface ChildrenOptions extends ChildOutput {
  /** By which a child knows what it is. */
  readonly arguments: readonly string[];
  /** Options of Node, beside those of this process. */
  readonly execArgv?: readonly string[];
  /** The requests that a child may send. */
  readonly handlersFor: (child: Child) => Handlers;
  readonly onReady: (child: Child) => void;
  readonly onEnd: (child: Child, end: ChildEnd) => void;
  /** A child that was ready hasn't said anything for ten seconds, and is killed. */
  readonly onHung: (child: Child) => void;
  /** The system has no room for another process; it is asked again. */
  readonly onNoProcess: (error: unknown, restartMillis: number) => void;
}

interface RunningChild extends Child {
  readonly channel: Channel;
  readonly pipe: MessagePipe;
  quietBeats: number;
  readySince?: number;
  failure?: ChildFailure;
}

/** Processes of this program: starts them, replaces those that end, watches that they respond, and ends them. */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #running = new Map<string, RunningChild>();
  readonly #forwarding = new Set<Promise<void>>();
  readonly #ended = Promise.withResolvers<void>();
  #beating: NodeJS.Timeout | undefined;
  #lastId = 0;
  #restartMillis = firstRestartMillis;
  #stop: NodeJS.Signals | undefined;

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  get all(): readonly Child[] {
    return [...this.#running.values()];
  }

  /** Those that serve. */
  get ready(): readonly Child[] {
    return [...this.#running.values()].filter(({ readySince }) => readySince !== undefined);
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Starts one more, which is replaced whenever it ends. */
  start(): void {
    if (this.#stop !== undefined) return;
    this.#beating ??= every(beatMillis, () => this.#beat()).ref();
    const onFailure = (error: unknown): void => this.#options.onNoProcess(error, this.#restart());
    try {
      const child = this.#fork();
      if (child.pid === undefined) child.once('error', onFailure);
      else this.#follow(child);
    } catch (error) {
      onFailure(error);
    }
  }

  /**
   * Ends all because of a signal: those that aren't ready at once, as a process ends that hasn't started, and those that
   * take longer than `maxMillis`, too. Resolves when all have ended.
   */
  async stop(signal: NodeJS.Signals, maxMillis: number): Promise<void> {
    this.#stop = signal;
    for (const { process, pipe, readySince } of this.#running.values()) {
      if (readySince === undefined) process.kill('SIGKILL');
      else pipe.send({ stop: signal });
    }
    const late = setTimeout(() => {
      for (const { process } of this.#running.values()) process.kill('SIGKILL');
    }, maxMillis);
    if (this.#running.size === 0) this.#ended.resolve();
    await this.#ended.promise;
    clearTimeout(late);
    clearInterval(this.#beating);
  }

  /** Resolves when what those that have ended had written has been taken. */
  async forwarded(): Promise<void> {
    await Promise.all(this.#forwarding);
  }

  /**
   * Where the system can't start another process, Node throws some of its errors, and emits others: then there is neither
   * a process id nor an exit, and, without descriptors, no streams either.
   */
  #fork(): ChildProcess {
    const child = fork(process.argv[1] ?? '', [...this.#options.arguments], {
      execArgv: [...process.execArgv, ...(this.#options.execArgv ?? [])],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc', 'pipe'],
    });
    // Also of messages to one that has ended, which is noticed by its exit.
    child.on('error', () => undefined);
    return child;
  }

  #follow(process: ChildProcess): void {
    const { handlersFor, onLines, onCutLine } = this.#options;
    this.#lastId += 1;
    const id = String(this.#lastId);
    const pipe = new MessagePipe(process.stdio[pipeDescriptor] as Duplex, (message) => {
      running.quietBeats = 0;
      channel.receive(message);
    });
    const child: Child = { id, process, ask: (name, value) => channel.ask(name, value) };
    const handlers: Handlers = {
      ...handlersFor(child),
      ready: () => this.#onReady(running),
      failed: (failure) => {
        running.failure = failure as ChildFailure;
      },
    };
    const channel = new Channel((message) => pipe.send(message), handlers);
    const running: RunningChild = { ...child, channel, pipe, quietBeats: 0 };
    this.#running.set(id, running);
    const forwarding = forwardLines(process.stdout as Readable, onLines, onCutLine)
      .catch(() => undefined)
      .finally(() => this.#forwarding.delete(forwarding));
    this.#forwarding.add(forwarding);
    process.once('exit', (code, signal) => this.#onExit(running, code, signal));
  }

  #onReady(child: RunningChild): void {
    child.readySince = performance.now();
    child.quietBeats = 0;
    this.#options.onReady(child);
  }

  #onExit(ended: RunningChild, code: number | null, signal: string | null): void {
    const { id, channel, readySince, failure } = ended;
    this.#running.delete(id);
    channel.close(new Error(`The process ${id} has ended.`));
    if (readySince !== undefined && performance.now() - readySince >= steadyMillis)
      this.#restartMillis = firstRestartMillis;
    const restartMillis = this.#stop === undefined ? this.#restart() : undefined;
    this.#options.onEnd(ended, { code, signal, wasReady: readySince !== undefined, failure, restartMillis });
    if (this.#stop !== undefined && this.#running.size === 0) this.#ended.resolve();
  }

  /** Starts another one later, and says when. */
  #restart(): number {
    const millis = this.#restartMillis;
    this.#restartMillis = Math.min(maxRestartMillis, 2 * millis);
    setTimeout(() => this.start(), millis);
    return millis;
  }

  #beat(): void {
    for (const running of this.#running.values()) {
      running.quietBeats += 1;
      // One that isn't ready loads its modules, which takes as long as it takes.
      if (running.readySince !== undefined && running.quietBeats > maxQuietBeats) {
        this.#options.onHung(running);
        running.process.kill('SIGKILL');
      } else {
        running.pipe.send(this.#stop === undefined ? {} : { stop: this.#stop });
      }
    }
  }
}

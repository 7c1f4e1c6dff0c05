import { every, SharedWork } from '../platform/background.ts';
import type { Id } from '../domain/id.ts';
import type { KeyChanges, NamedKeyChange } from '../domain/access/key-records.ts';

const readEveryMillis = 500;
/** The largest number of changes of one round that are reported one by one. */
const maxReported = 100;

export interface KeyChangeLogOptions {
  readonly changes: KeyChanges;
  /** Called for each change. Must not throw. */
  readonly onChange: (change: NamedKeyChange) => void;
  /** Called for the other changes of a round, at most so many, with the first of them. Must not throw. */
  readonly onMore: (count: number, first: NamedKeyChange) => void;
}

/**
 * Reports every change of a key once, made by an administrator, the service itself, the command line, or SQL.
 *
 * Reads the history every half second. Of more than 100 changes in one round, the rest is only counted: the history has
 * each of them. Without the database nothing is reported until it is back. Each process reports each change that is
 * committed while it runs.
 */
export class KeyChangeLog {
  readonly #options: KeyChangeLogOptions;
  #latest: Id | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** A failed round is repeated by the next one. */
  readonly #reading = new SharedWork(() => this.#readOnce().catch(() => undefined));

  constructor(options: KeyChangeLogOptions) {
    this.#options = options;
  }

  /** From now on. Call it before the first request. */
  async start(): Promise<void> {
    await this.read();
    this.#timer = every(readEveryMillis, () => this.read());
  }

  /** Reports what is left. Call it while the database is open. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading.runAnew();
  }

  /** Reports what was committed since the last call. Never throws. */
  read(): Promise<void> {
    return this.#reading.run();
  }

  async #readOnce(): Promise<void> {
    const { changes: history, onChange, onMore } = this.#options;
    const { latest, changes } = await history.readAfter(this.#latest, maxReported + 1);
    // Also a smaller one, of a restored backup.
    this.#latest = latest;
    const reported = changes.slice(0, maxReported);
    for (const change of reported) onChange(change);
    const [last, first] = [reported.at(-1), changes[maxReported]];
    if (last !== undefined && first !== undefined) onMore(Number(BigInt(latest) - BigInt(last.id)), first);
  }
}

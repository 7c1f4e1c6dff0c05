import { randomUUID } from 'node:crypto';

import { runAsService } from '../domain/access/current-request.ts';
import type { EventMoves } from '../domain/events/event.store.ts';

const holderMillis = 200;
const standbyMillis = 1_000;
const maintainMillis = 60_000;
/** A run of so many takes about a tenth of a second. */
const maxMoved = 4_000;

export interface SequencerOptions {
  readonly moves: EventMoves;
  readonly retentionSeconds: number;
  /** Called when a run fails that follows a successful one. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Moves committed changes into the log: five times a second in the process that moved last, once a second in the
 * others.
 *
 * A process that dies is followed by another one within two seconds. Without the database nothing is moved, and nothing
 * is lost, until it is back.
 */
export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #name = randomUUID();
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #maintainAt = 0;
  #lagSeconds = 0;
  #logBytes = 0;
  #succeededAt = performance.now();
  #hasFailed = false;

  constructor(options: SequencerOptions) {
    this.#options = options;
  }

  /** How far the log is behind what is committed, as far as this process knows. */
  get lagSeconds(): number {
    const sinceSeconds = (performance.now() - this.#succeededAt) / 1_000;
    // Without news for two rounds the log may be as far behind as the news is old.
    return this.#lagSeconds + (sinceSeconds > (2 * standbyMillis) / 1_000 ? sinceSeconds : 0);
  }

  /** The size of the log on disk, as of the last minute. */
  get logBytes(): number {
    return this.#logBytes;
  }

  /**
   * Calls the listener each time that this process has moved events into the log, so that its readers needn't wait for
   * their next read. What other processes move isn't reported. The listener must not throw. Returns the removal of the
   * listener.
   */
  onMoved(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  start(): void {
    this.#schedule(0);
  }

  /** Waits for the run under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(millis: number): void {
    this.#timer = setTimeout(() => {
      this.#running = runAsService(() => this.#run());
    }, millis).unref();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const startedAt = performance.now();
    const interval = await this.#moveOnce();
    if (this.#isStopped) return;
    const elapsed = performance.now() - startedAt;
    // At least half of the time for others: an outbox that nothing can vacuum is slow to read, and the embedded
    // database has one connection.
    this.#schedule(Math.max(elapsed, interval - elapsed));
  }

  /** Returns the milliseconds from the begin of this run to the next one; none while more changes wait. */
  async #moveOnce(): Promise<number> {
    const { moves, onFailure } = this.#options;
    try {
      const { moved, isHolder, lagSeconds } = await moves.move(this.#name, maxMoved);
      this.#lagSeconds = lagSeconds;
      this.#succeededAt = performance.now();
      this.#hasFailed = false;
      if (moved > 0) for (const listener of this.#listeners) listener();
      if (moved < maxMoved) await this.#maintain();
      if (moved >= maxMoved) return 0;
      return isHolder ? holderMillis : standbyMillis;
    } catch (error) {
      if (!this.#hasFailed) onFailure(error);
      this.#hasFailed = true;
      return standbyMillis;
    }
  }

  async #maintain(): Promise<void> {
    const { moves, retentionSeconds } = this.#options;
    if (performance.now() < this.#maintainAt) return;
    this.#logBytes = await moves.maintain(retentionSeconds);
    this.#maintainAt = performance.now() + maintainMillis;
  }
}

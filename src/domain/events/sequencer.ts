import { randomUUID } from 'node:crypto';

import { runAsService } from '../access/current-request.ts';
import type { EventMoves } from './event.store.ts';

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
 * Moves committed changes into the log: five times a second in the process that moved last, once a second in the others.
 *
 * A process that dies is followed by another one within two seconds. Without the database nothing is moved, and nothing is lost, until it is back.
 */
export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #name = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #maintainAt = 0;
  #lagSeconds = 0;
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

  start(): void {
    this.#schedule(0);
  }

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
    const isHolder = await this.#moveOnce();
    if (this.#isStopped) return;
    const pause = isHolder ? holderMillis : standbyMillis;
    this.#schedule(Math.max(0, startedAt + pause - performance.now()));
  }

  async #moveOnce(): Promise<boolean> {
    const { moves, retentionSeconds, onFailure } = this.#options;
    try {
      const { lastMover, lagSeconds } = await moves.move(this.#name, maxMoved);
      this.#lagSeconds = lagSeconds;
      this.#succeededAt = performance.now();
      this.#hasFailed = false;
      if (performance.now() >= this.#maintainAt && lastMover === this.#name) {
        this.#maintainAt = performance.now() + maintainMillis;
        await moves.maintain(retentionSeconds);
      }
      return lastMover === this.#name || lastMover === null;
    } catch (error) {
      if (!this.#hasFailed) onFailure(error);
      this.#hasFailed = true;
      return false;
    }
  }
}

import { randomUUID } from 'node:crypto';

export interface EventMove {
  readonly moved: number;
  /** Whether this process is the one that moves: the others try less often. */
  readonly isLeader: boolean;
  /** How long the oldest committed change has been waiting; 0 when none waits, or another process knows. */
  readonly lagSeconds: number;
}

export interface EventMoves {
  /** Moves at most so many committed changes into the log, unless another sequencer does. One transaction. */
  move(sequencerId: string, limit: number): Promise<EventMove>;
  /**
   * Drops the days that are older, if no other process is at it. `passedSeconds` is how long ago this process has
   * called it last, by monotonic time: the log's own time goes on by no more. Returns the size of the log in bytes.
   */
  maintain(retentionSeconds: number, passedSeconds?: number): Promise<number>;
}

const leaderMillis = 200;
const standbyMillis = 1_000;
const maintainMillis = 60_000;
const maxMoved = 4_000;
const minMoved = 50;

export interface SequencerOptions {
  readonly moves: EventMoves;
  readonly retentionSeconds: number;
  /**
   * Called when this process has moved changes, so that its readers needn't wait for their next read. Must not throw.
   */
  readonly onMoved: () => void;
  /** Called when a move, or the maintenance, fails that follows a successful one. Must not throw. */
  readonly onFailure: (what: 'move' | 'maintain', error: unknown) => void;
}

/** Moves committed changes into the log, and drops its old days, in one process at a time. */
export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #id = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #limit = maxMoved;
  #maintainAt = 0;
  /** When it last succeeded. */
  #maintainedAt: number | undefined;
  #lagSeconds = 0;
  #logBytes = 0;
  #succeededAt = performance.now();
  /** What has failed in its last run, which is reported once. */
  readonly #failures = new Map<'move' | 'maintain', unknown>();

  constructor(options: SequencerOptions) {
    this.#options = options;
  }

  /** How far the log is behind what is committed, as far as this process knows. */
  get lagSeconds(): number {
    const sinceSeconds = (performance.now() - this.#succeededAt) / 1_000;
    // Without news for two rounds the log may be as far behind as the news is old.
    return this.#lagSeconds + (sinceSeconds > (2 * standbyMillis) / 1_000 ? sinceSeconds : 0);
  }

  /** Why changes are not moved now; undefined while they are. */
  get moveFailure(): unknown {
    return this.#failures.get('move');
  }

  /** The size of the log on disk, as of the last minute. */
  get logBytes(): number {
    return this.#logBytes;
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
      this.#running = this.#run();
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
    const { moves, onMoved } = this.#options;
    const limit = this.#limit;
    try {
      const { moved, isLeader, lagSeconds } = await moves.move(this.#id, limit);
      this.#limit = Math.min(maxMoved, 2 * limit);
      this.#lagSeconds = lagSeconds;
      this.#succeededAt = performance.now();
      this.#failures.delete('move');
      if (moved > 0) onMoved();
      if (moved >= limit) return 0;
      await this.#maintain();
      return isLeader ? leaderMillis : standbyMillis;
    } catch (error) {
      this.#limit = Math.max(minMoved, Math.floor(limit / 2));
      this.#fail('move', error);
      return standbyMillis;
    }
  }

  /** Once a minute, whether or not it succeeds. Never rejects. */
  async #maintain(): Promise<void> {
    const { moves, retentionSeconds } = this.#options;
    const now = performance.now();
    if (now < this.#maintainAt) return;
    this.#maintainAt = now + maintainMillis;
    const passedSeconds = this.#maintainedAt && (now - this.#maintainedAt) / 1_000;
    try {
      this.#logBytes = await moves.maintain(retentionSeconds, passedSeconds);
      this.#maintainedAt = now;
      this.#failures.delete('maintain');
    } catch (error) {
      this.#fail('maintain', error);
    }
  }

  #fail(what: 'move' | 'maintain', error: unknown): void {
    if (!this.#failures.has(what)) this.#options.onFailure(what, error);
    this.#failures.set(what, error);
  }
}

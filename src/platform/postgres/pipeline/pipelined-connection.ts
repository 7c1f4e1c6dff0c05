import { type Caller, type Lease, service } from '../../callers/index.ts';
import { inBackground } from '../../background.ts';
import { NoFreeConnection } from '../connection-slots.ts';
import type { PgConnection } from '../connection.ts';
import { isLocked, isLoss, isOutdated, isTimeout, isUnprepared } from '../driver-errors.ts';
import { type LogPosition, reaches } from '../replicas/log-position.ts';
import { LeftOut } from '../replicas/left-out.ts';
import { type Query, recordStatement } from '../statement.ts';
import { StatementBatch } from '../statement-batch.ts';

/** The callers that wait for one read. */
export type SomeCallers = readonly [Caller, ...Caller[]];

/** A read, and what gets its rows or the driver's error. */
export interface PendingRead {
  readonly query: Query<unknown>;
  /** The id of the client (a key) that it is for; for several it is the service's own. */
  readonly id: string;
  /** None when it has ended. */
  callers: SomeCallers | readonly [];
  readonly askedAt: number;
  /** On a standby: how far it has to have replayed. */
  readonly position: LogPosition | undefined;
  resolve: (rows: unknown[]) => void;
  reject: (error: Error) => void;
  /** The read has been retried, and won't be again. */
  isRetried: boolean;
  /** While it is sent, or waits to be retried: one of those that its client may have under way. */
  lease?: Lease | undefined;
  /** When it was sent on the connection that it waits for now; undefined until it is. */
  sentAt?: number | undefined;
}

const noCallers = [] as const;
const settled = (): void => undefined;

/** How many reads of one client wait for a response on each connection. */
export const maxReadsOfClient = 8;

/** A read that was asked for longer ago isn't sent once more: it has to end within the five seconds of a request. */
const maxMovedMillis = 3_000;

/** The factor by which the round trip grows with each read that isn't faster: the network may have become slower. */
const roundTripGrowth = 1.0001;

interface Listeners {
  /** The connection takes no more reads. */
  readonly onEnd: (connection: PipelinedConnection) => unknown;
  /** Reads to send once more: the connection is unusable, or a read before them took too long. */
  readonly onRetry: (reads: readonly PendingRead[], connection: PipelinedConnection) => void;
}

/** One of the connections: what is sent on it, in its order, and what becomes of it when the connection fails. */
export class PipelinedConnection {
  /** Undefined until it is open. */
  #connection: PgConnection | undefined;
  readonly #ending = new AbortController();
  readonly #listeners: Listeners;
  /** In their order. No set: see "Nothing holds a request longer than it runs" in DECISIONS. */
  readonly #pending: PendingRead[] = [];
  /** When the response to the last one came. */
  #respondedAt = 0;
  /** The error of the last read that has met a lock, and when it came. */
  #lock: { readonly error: Error; readonly at: number } | undefined;
  /** The fastest of the last reads that had none before them: hardly more than the way to the server and back. */
  #roundTripMillis = Infinity;
  /** The connection gets no more reads, and is closed when it has finished those that it has. */
  isRetired = false;
  #isEnded = false;

  constructor(open: (signal: AbortSignal) => Promise<PgConnection>, listeners: Listeners) {
    this.#listeners = listeners;
    inBackground(this.#open(open));
  }

  get isCurrent(): boolean {
    return this.#connection?.isCurrent ?? true;
  }

  get pending(): number {
    return this.#pending.length;
  }

  /** The service's own work isn't limited. */
  accepts(clientId: string, maxReads = maxReadsOfClient): boolean {
    if (this.isRetired) return false;
    if (clientId === service || this.#pending.length < maxReads) return true;
    let reads = 0;
    for (const pending of this.#pending) if (pending.id === clientId) reads += 1;
    return reads < maxReads;
  }

  /** The read is sent by the next `flush`. */
  add(pending: PendingRead): void {
    pending.sentAt = undefined;
    this.#pending.push(pending);
  }

  /** Sends what was added, in one write; while the connection is being opened, when it is open. */
  flush(): void {
    const connection = this.#connection;
    const reads = this.#pending.filter(({ sentAt }) => sentAt === undefined);
    if (connection === undefined || reads.length === 0) return;
    const isBehind = reads.some(({ position }) => !isFresh(connection, position));
    const first = isBehind ? [connection.askReplayed()] : [];
    connection.submit(...first, ...reads.map((pending) => this.#batchOf(connection, pending)));
    for (const pending of reads) pending.sentAt = connection.progressAt;
  }

  retire(): void {
    this.isRetired = true;
    this.#closeIfDone();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#connection?.close();
  }

  async #open(open: (signal: AbortSignal) => Promise<PgConnection>): Promise<void> {
    let connection: PgConnection;
    try {
      connection = await open(this.#ending.signal);
    } catch (error) {
      this.#end();
      for (const pending of this.#pending.splice(0)) reject(pending, error as Error);
      return;
    }
    connection.once('end', () => this.#end());
    this.#connection = connection;
    if (!connection.isCurrent) this.isRetired = true;
    this.flush();
    this.#closeIfDone();
  }

  #batchOf(connection: PgConnection, pending: PendingRead): StatementBatch {
    return new StatementBatch([pending.query], (error, [rows = []] = []) => {
      recordStatement(pending.query.statement.text, pending.callers, pending.askedAt, error);
      // The read may have been moved away.
      const index = this.#pending.indexOf(pending);
      if (index === -1) return;
      this.#pending.splice(index, 1);
      const now = performance.now();
      const usedMillis = this.#serverMillis(pending.sentAt, now);
      this.#respondedAt = now;
      if (this.#pending.length > 0) connection.recordProgress(now);
      const isStale = error === null && !isFresh(connection, pending.position);
      if (isStale) {
        reject(pending, new LeftOut('lagging', 'its connection stands lower'), usedMillis);
      } else if (error === null) {
        end(pending, usedMillis).resolve(rows);
      } else {
        this.#fail(pending, error, usedMillis);
      }
      this.#closeIfDone();
    });
  }

  /** How long the server has worked on the read that now has its response. */
  #serverMillis(sentAt: number | undefined, now: number): number {
    // The read has failed before it was sent.
    if (sentAt === undefined) return 0;
    // Since the response to the one before it.
    if (this.#respondedAt > sentAt) return now - this.#respondedAt;
    const millis = now - sentAt;
    this.#roundTripMillis = Math.min(millis, this.#roundTripMillis * roundTripGrowth);
    return millis - this.#roundTripMillis;
  }

  #fail(pending: PendingRead, failure: Error, usedMillis: number): void {
    if (isLocked(failure)) this.#lock = { error: failure, at: this.#respondedAt };
    const error = isUnprepared(failure) ? (this.#lockBefore(pending)?.error ?? failure) : failure;
    // Not after a response timeout: a second wait would take too long.
    const isUnusable = isOutdated(error) || (isLoss(error) && this.#connection?.hasTimedOut !== true);
    if (isUnusable && !pending.isRetried) {
      this.#listeners.onRetry([pending], this);
      return;
    }
    // There it may have waited for a lock, which has no time-out of its own.
    if (this.#connection?.session.isBehindPooler === true) Object.assign(error, { subject: undefined });
    reject(pending, error, usedMillis);
    if (isTimeout(error)) this.#moveOthers();
  }

  /**
   * Of reads that were sent together, the first one has met a lock when it was to prepare their statement: so have all.
   */
  #lockBefore({ sentAt = Infinity }: PendingRead): { readonly error: Error } | undefined {
    return this.#lock !== undefined && sentAt <= this.#lock.at ? this.#lock : undefined;
  }

  /** Reads behind a slow one have waited as long, perhaps for the same lock: they are retried elsewhere. */
  #moveOthers(): void {
    const others = this.#pending.splice(0);
    const latest = performance.now() - maxMovedMillis;
    this.#end();
    if (this.#connection !== undefined) inBackground(this.#connection.abort('a statement took too long'));
    const { late = [], moved = [] } = Object.groupBy(others, ({ isRetried, askedAt }) =>
      isRetried || askedAt < latest ? 'late' : 'moved',
    );
    for (const pending of late) reject(pending, new NoFreeConnection('earlier reads'));
    this.#listeners.onRetry(moved, this);
  }

  #end(): void {
    this.isRetired = true;
    this.#isEnded = true;
    this.#listeners.onEnd(this);
  }

  #closeIfDone(): void {
    const isDone = this.isRetired && !this.#isEnded && this.#pending.length === 0;
    if (!isDone || this.#connection === undefined) return;
    inBackground(this.#connection.close());
  }
}

function isFresh({ replayed }: PgConnection, position: LogPosition | undefined): boolean {
  return position === undefined || reaches(replayed, position);
}

function reject(pending: PendingRead, error: Error, usedMillis?: number): void {
  end(pending, usedMillis).reject(error);
}

/**
 * Returns what settles the read, which itself keeps nothing of it any more: see "Nothing holds a request longer than it
 * runs" in DECISIONS.
 */
function end(pending: PendingRead, usedMillis: number | undefined): Pick<PendingRead, 'resolve' | 'reject'> {
  const settlers = { resolve: pending.resolve, reject: pending.reject };
  pending.lease?.release(usedMillis);
  pending.lease = undefined;
  pending.callers = noCallers;
  pending.resolve = settled;
  pending.reject = settled;
  return settlers;
}

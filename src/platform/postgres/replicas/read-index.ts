import { setImmediate as nextImmediate, setTimeout as sleep } from 'node:timers/promises';

import type { PgConnection } from '../connection.ts';
import type { Statement } from '../statement.ts';
import { LeftOut } from './left-out.ts';
import type { LogPosition, PositionStatements } from './log-position.ts';

/** The part of a connection that questions need. */
type Questioned = Pick<PgConnection, 'run' | 'destroy' | 'isLost' | 'isCurrent'> & {
  readonly session: Pick<PgConnection['session'], 'isBehindPooler'>;
};

/** Between the begins of two questions: under load a process asks at most 500 a second. */
const pauseMillis = 2;

/**
 * How far the primary's log is, as Raft's leaders say it: a standby that has replayed so far has all that anybody was
 * told of before it was asked for.
 *
 * One question at a time is under way, and whoever asks meanwhile, or within two milliseconds of its begin, shares the next
 * one, as commits share a flush. It has a connection of its own, and waits for no read.
 */
export class ReadIndex {
  readonly #open: (signal: AbortSignal) => Promise<Questioned>;
  readonly #statements: PositionStatements;
  readonly #ending = new AbortController();
  #connection: Questioned | undefined;
  /** As that connection has said. */
  #history: string | undefined;
  #asked: Promise<LogPosition> | undefined;
  #pause: Promise<void> | undefined;
  /** The next one, which isn't sent yet. */
  #next: Promise<LogPosition> | undefined;
  #last: LogPosition | undefined;

  /** `open` opens a connection to the primary. */
  constructor(open: (signal: AbortSignal) => Promise<Questioned>, statements: PositionStatements) {
    this.#open = open;
    this.#statements = statements;
  }

  /** As it was last seen. */
  get last(): LogPosition | undefined {
    return this.#last;
  }

  /** Of a question that is sent after this call. Throws LeftOut, and what a connection does. */
  ask(): Promise<LogPosition> {
    this.#next ??= this.#askNext();
    return this.#next;
  }

  close(): void {
    this.#ending.abort();
    this.#connection?.destroy('the database is closed');
  }

  async #askNext(): Promise<LogPosition> {
    await Promise.allSettled([this.#asked, this.#pause]);
    // All of this tick share it.
    await nextImmediate();
    this.#next = undefined;
    this.#pause = sleep(pauseMillis);
    this.#asked = this.#read();
    return this.#asked;
  }

  async #read(): Promise<LogPosition> {
    const connection = await this.#connect();
    try {
      this.#last = await this.#askOn(connection);
      return this.#last;
    } catch (error) {
      // What is prepared on it may be outdated.
      if (!(error instanceof LeftOut)) connection.destroy('a question has failed', error);
      throw error;
    }
  }

  async #connect(): Promise<Questioned> {
    if (this.#connection?.isLost === false && this.#connection.isCurrent) return this.#connection;
    this.#connection?.destroy('it is replaced');
    this.#history = undefined;
    this.#connection = await this.#open(this.#ending.signal);
    return this.#connection;
  }

  /**
   * A primary keeps its time line until it stops, which ends its connections: each is asked for the history once. Behind
   * a pooler the next transaction may be another server's, so there each says both.
   */
  async #askOn(connection: Questioned, mayBegin = true): Promise<LogPosition> {
    const { flushed, history, beginHistory } = this.#statements;
    if (connection.session.isBehindPooler) this.#history = undefined;
    const statements = this.#history === undefined ? [flushed, history] : [flushed];
    const [ofLog, ofRow] = await connection.run(queriesOf(statements));
    const [flush] = ofLog as Rows<typeof flushed>;
    const [found] = (ofRow ?? []) as Rows<typeof history>;
    if (found?.isOfTimeLine === false) {
      if (!mayBegin) throw new Error('The time line has changed again.');
      await connection.run(queriesOf([beginHistory]));
      return this.#askOn(connection, false);
    }
    this.#history ??= found?.history;
    if (flush === undefined || this.#history === undefined) throw new Error('The row with the time line is missing.');
    if (flush.isAsynchronous) throw new LeftOut('asynchronous', asynchronous);
    return { bytes: flush.bytes, history: this.#history };
  }
}

const asynchronous = 'synchronous_commit is off for the role, the database or the server of the primary: set it to on.';

type Rows<S> = S extends Statement<infer Row> ? readonly Row[] : never;

function queriesOf(statements: readonly Statement<unknown>[]) {
  return statements.map((statement) => ({ statement, values: [] }));
}

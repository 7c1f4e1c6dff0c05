import { setImmediate as nextImmediate } from 'node:timers/promises';

import type { Caller } from '../../callers/index.ts';
import type { ConnectionPool } from '../connection-pool.ts';
import type { PipelinedConnections } from '../pipeline/pipelined-connections.ts';
import type { LogPosition, PositionStatements } from './log-position.ts';

/** Where commits can be seen before they are in the log, no position covers them. */
export class AsynchronousCommits extends Error {
  override readonly name = 'AsynchronousCommits';

  constructor() {
    super('synchronous_commit is off for the role, the database or the server of the primary: set it to on.');
  }
}

export interface ReadIndexOptions {
  /** Of the primary. */
  readonly pipeline: Pick<PipelinedConnections, 'read'>;
  readonly pool: Pick<ConnectionPool, 'run'>;
  readonly statements: PositionStatements;
  readonly caller: Caller;
}

/**
 * How far the primary's log is, as Raft's leaders say it: a standby that has replayed so far has all that anybody was
 * told of before it was asked for.
 *
 * One question at a time is under way, and whoever asks meanwhile shares the next one, as commits share a flush.
 */
export class ReadIndex {
  readonly #options: ReadIndexOptions;
  #asked: Promise<LogPosition> | undefined;
  /** The next one, which isn't sent yet. */
  #next: Promise<LogPosition> | undefined;
  #last: LogPosition | undefined;

  constructor(options: ReadIndexOptions) {
    this.#options = options;
  }

  /** As it was last seen. */
  get last(): LogPosition | undefined {
    return this.#last;
  }

  /** Of a question that is sent after this call. Throws AsynchronousCommits, and what the primary's connections do. */
  ask(): Promise<LogPosition> {
    this.#next ??= this.#askNext();
    return this.#next;
  }

  async #askNext(): Promise<LogPosition> {
    await this.#asked?.catch(() => undefined);
    // All of this tick share it.
    await nextImmediate();
    this.#next = undefined;
    this.#asked = this.#read();
    return this.#asked;
  }

  async #read(mayBegin = true): Promise<LogPosition> {
    const { pipeline, pool, statements, caller } = this.#options;
    const { flushed, beginHistory } = statements;
    const [position] = (await pipeline.read({ statement: flushed, values: [] }, [caller])) as [
      ReturnType<typeof flushed.decode>?,
    ];
    if (position === undefined) throw new Error('The row with the time line is missing.');
    if (position.isAsynchronous) throw new AsynchronousCommits();
    if (!position.isOfTimeLine && mayBegin) {
      await pool.run(caller, (connection) => connection.run([{ statement: beginHistory, values: [] }]));
      return this.#read(false);
    }
    if (!position.isOfTimeLine) throw new Error('The time line has changed again.');
    this.#last = position;
    return position;
  }
}

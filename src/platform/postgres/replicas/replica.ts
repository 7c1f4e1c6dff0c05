import { setImmediate as nextImmediate, setTimeout as sleep } from 'node:timers/promises';

import { inBackground, SharedWork, within } from '../../background.ts';
import type { Caller } from '../../callers/index.ts';
import type { ConnectionPool } from '../connection-pool.ts';
import type { PgConnection } from '../connection.ts';
import { isOutdated } from '../driver-errors.ts';
import type { SomeCallers } from '../pipeline/pipelined-connection.ts';
import type { PipelinedConnections } from '../pipeline/pipelined-connections.ts';
import type { Servers } from '../servers/servers.ts';
import type { Query } from '../statement.ts';
import { LeftOut, leftOut } from './left-out.ts';
import { type LogPosition, type PositionStatements, reaches } from './log-position.ts';

/** The connections to one replica, as many as to the primary. */
export interface ReplicaConnections {
  readonly servers: Servers;
  readonly pool: ConnectionPool;
  readonly pipeline: PipelinedConnections | undefined;
  /** One more, for questions, which wait for no read. */
  readonly open: (signal: AbortSignal) => Promise<PgConnection>;
}

export interface ReplicaOptions {
  /** Its host and port. */
  readonly name: string;
  readonly connect: () => ReplicaConnections;
  readonly statements: PositionStatements;
}

/** For the replay up to a position, and for any response. */
const maxLagMillis = 20;
/** Between two questions of how far it has replayed. */
const pollMillis = 1;
/** Without any response for so long after that, its connections are closed. */
const silentMillis = 250;

/** One standby: how far it has replayed, whether it is used, and the reads on it. */
export class Replica {
  readonly name: string;
  readonly #options: ReplicaOptions;
  readonly #ending = new AbortController();
  #connections: ReplicaConnections;
  #watch: PgConnection | undefined;
  readonly #asking = new SharedWork(() => this.#askReplayed());
  #replayed: LogPosition | undefined;
  #respondedAt = -Infinity;
  #problem: LeftOut | undefined = new LeftOut('lost', 'it was not reached yet');
  /** How many reads it serves now. */
  underWay = 0;

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.#options = options;
    this.#connections = options.connect();
  }

  /** Why it is left out; undefined while it is used. */
  get problem(): LeftOut | undefined {
    return this.#problem;
  }

  /** As it was last seen. */
  get replayed(): LogPosition | undefined {
    return this.#replayed;
  }

  /** It is left out until a check has found it in order. */
  leaveOut(problem: LeftOut): void {
    this.#problem = problem;
  }

  /** Waits until it has replayed so far, and has just responded: throws LeftOut after 20 ms. */
  async reach(position: LogPosition): Promise<void> {
    const deadline = performance.now() + maxLagMillis;
    while (!this.#isAt(position)) {
      const millis = deadline - performance.now();
      if (millis <= 0) throw this.#lag(position);
      const replayed = await inTime(millis, this.#asking.run());
      if (replayed === undefined) throw new LeftOut('silent', `it has not responded in ${maxLagMillis} ms`);
      if (!this.#isAt(position)) await sleep(pollMillis);
    }
  }

  /**
   * Rows as of the position or later. Rejects with the driver's error, or LeftOut: what is asked first on the same
   * connection decides, since a standby that was restarted may have replayed less.
   */
  async read(query: Query<unknown>, callers: SomeCallers, position: LogPosition): Promise<unknown[]> {
    const { pipeline } = this.#connections;
    this.underWay += 1;
    try {
      const isShort = query.statement.kind === 'short' && pipeline !== undefined;
      const rows = await (isShort
        ? pipeline.read(query, callers, position)
        : this.#readExclusively(query, callers[0], position));
      this.#respondedAt = performance.now();
      return rows;
    } catch (error) {
      if (isOutdated(error)) this.#connections.servers.renew();
      throw error;
    } finally {
      this.underWay -= 1;
    }
  }

  /** Connects if need be, and finds out whether it can be used at this position of the primary. Never rejects. */
  async check(position: LogPosition): Promise<void> {
    try {
      await this.#connectWatch();
      await this.reach(position);
      this.#problem = undefined;
    } catch (error) {
      this.leaveOut(leftOut(error));
      if (this.#problem?.reason !== 'silent') return;
      const replayed = await inTime(silentMillis, this.#asking.run()).catch(() => undefined);
      if (replayed !== undefined) return;
      this.#reset();
      this.leaveOut(new LeftOut('lost', `it has not responded in ${maxLagMillis + silentMillis} ms`));
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#watch?.destroy('the database is closed');
    const { pipeline, pool } = this.#connections;
    await Promise.all([pipeline?.close(), pool.end()]);
  }

  #isAt(position: LogPosition): boolean {
    return reaches(this.#replayed, position) && performance.now() - this.#respondedAt < maxLagMillis;
  }

  #lag(position: LogPosition): LeftOut {
    const { history, bytes } = this.#replayed ?? position;
    if (history === position.history) return new LeftOut('lagging', `it is ${position.bytes - bytes} bytes behind`);
    return new LeftOut('time_line', 'it is of another time line than the primary, or of another database system');
  }

  async #askReplayed(): Promise<LogPosition> {
    if (this.#watch === undefined || this.#watch.isLost) throw new LeftOut('lost', 'it is not connected');
    const { replayed } = this.#options.statements;
    const [[position] = []] = (await this.#watch.run([{ statement: replayed, values: [] }])) as LogPosition[][];
    if (position === undefined || position.bytes < 0n)
      throw new LeftOut('unsuitable', 'it does not say how far it has replayed');
    this.#replayed = position;
    this.#respondedAt = performance.now();
    return position;
  }

  async #connectWatch(): Promise<void> {
    if (this.#watch?.isLost === false && this.#watch.isCurrent) return;
    this.#watch?.destroy('it is replaced');
    this.#watch = await this.#connections.open(this.#ending.signal);
    this.#replayed = undefined;
  }

  /** The reads that wait for it go to the primary. */
  #reset(): void {
    this.#watch?.destroy();
    const { pipeline, pool } = this.#connections;
    this.#connections = this.#options.connect();
    inBackground(Promise.all([pipeline?.close(), pool.end()]));
  }

  #readExclusively(query: Query<unknown>, caller: Caller, position: LogPosition): Promise<unknown[]> {
    const work = async (connection: PgConnection): Promise<unknown[]> => {
      if (!reaches(connection.replayed, position)) connection.submit(connection.askReplayed());
      const [rows = []] = await connection.run([query]);
      if (!reaches(connection.replayed, position)) throw new LeftOut('lagging', 'its connection stands lower');
      return rows;
    };
    return this.#connections.pool.run(caller, work, query.statement.kind === 'slow');
  }
}

/** As `within`, but a response that has come while this process was busy is in time. */
async function inTime<Result>(millis: number, work: Promise<Result>): Promise<Result | undefined> {
  const result = await within(millis, work);
  return result ?? Promise.race([work, nextImmediate(undefined)]);
}

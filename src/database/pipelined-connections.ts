import pg from 'pg';

import { giveUp } from './given-up.ts';
import { PreparedStatement, type Decode, type Parameter } from './prepared-statement.ts';

export interface PipelineOptions {
  readonly url: string;
  readonly connections: number;
  /** A connection on which nothing comes back for this long means a lost server: it is given up. */
  readonly answerTimeoutMillis: number;
  /** After which the server ends a statement by itself. */
  readonly statementTimeoutMillis: number;
  readonly connectionTimeoutMillis: number;
  /** Told every statement that is sent. */
  readonly onStatement: ((sql: string) => void) | undefined;
}

/** The SQLSTATE of a statement that has taken too long. */
const queryCanceled = '57014';

/** How often connections are looked at that owe an answer. */
const watchMillis = 250;

/**
 * A few connections that short statements share: each is sent at once, without waiting for the answers to those before it, and what is
 * asked for in one turn of the event loop leaves in one piece. A system call is what a prepared statement costs most.
 *
 * A statement waits for those before it on its connection, so only such as are surely short belong here, and none in a transaction.
 */
export class PipelinedConnections {
  readonly #options: PipelineOptions;
  readonly #lanes: Lane[] = [];
  readonly #watch: NodeJS.Timeout;
  /** The lane of this turn of the event loop. */
  #current: Lane | undefined;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#giveUpSilentOnes(), watchMillis).unref();
  }

  query(name: string, text: string, values: readonly Parameter[], decode?: Decode): Promise<unknown[]> {
    this.#options.onStatement?.(text);
    const lane = (this.#current ??= this.#open());
    return lane.query(name, text, values, decode);
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** For the rest of this turn: a new lane while there may be more and all are busy, else the one with the least to do. */
  #open(): Lane {
    let lane = this.#lanes.reduce<Lane | undefined>(
      (least, each) => (least === undefined || each.pending < least.pending ? each : least),
      undefined,
    );
    if (lane === undefined || (lane.pending > 0 && this.#lanes.length < this.#options.connections)) {
      lane = new Lane(this.#options, (ended) => {
        this.#lanes.splice(this.#lanes.indexOf(ended), 1);
        if (this.#current === ended) this.#current = undefined;
      });
      this.#lanes.push(lane);
    }
    const uncork = lane.cork();
    setImmediate(() => {
      this.#current = undefined;
      uncork();
    });
    return lane;
  }

  #giveUpSilentOnes(): void {
    const limit = performance.now() - this.#options.answerTimeoutMillis;
    for (const lane of this.#lanes) if (lane.pending > 0 && lane.lastAnswerAt < limit) lane.giveUp();
  }
}

/** What of `pg`'s connection isn't in its types. */
interface Internals {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } };
}

class Lane {
  readonly #client: pg.Client;
  #pending = 0;
  #lastAnswerAt = 0;

  constructor({ url, connectionTimeoutMillis, statementTimeoutMillis }: PipelineOptions, onEnd: (lane: Lane) => void) {
    this.#client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis,
      keepAlive: true,
      application_name: 'petstore-gateway',
      pipeline: true,
    });
    let isOver = false;
    const end = (): void => {
      if (!isOver) onEnd(this);
      isOver = true;
    };
    // Those who wait for an answer are told by their own statement.
    this.#client.on('error', end);
    this.#client.on('end', end);
    this.#client.connect().catch(() => this.giveUp());
    // Before all others. Not as a parameter of the connection, which poolers between may refuse.
    this.#client.query(`set statement_timeout = ${statementTimeoutMillis}`).catch(() => this.giveUp());
  }

  get pending(): number {
    return this.#pending;
  }

  get lastAnswerAt(): number {
    return this.#lastAnswerAt;
  }

  query(name: string, text: string, values: readonly Parameter[], decode?: Decode): Promise<unknown[]> {
    if (this.#pending === 0) this.#lastAnswerAt = performance.now();
    this.#pending += 1;
    return new Promise((resolve, reject) => {
      const statement = new PreparedStatement(name, text, values, decode);
      statement.callback = (error, rows = []) => {
        this.#pending -= 1;
        this.#lastAnswerAt = performance.now();
        if (error === null) resolve(rows);
        else reject(error);
        // Those behind it have waited as long, and a name that it should have prepared is unknown to them.
        if (error !== null && 'code' in error && error.code === queryCanceled) this.giveUp();
      };
      void this.#client.query(statement);
    });
  }

  /** Holds back what is written until the answer is called. */
  cork(): () => void {
    const { stream } = this.#internals.connection;
    stream.cork();
    return () => stream.uncork();
  }

  giveUp(): void {
    giveUp(this.#client);
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  get #internals(): Internals {
    return this.#client;
  }
}

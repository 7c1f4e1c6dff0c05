import pg from 'pg';

import { type Caller, waiting } from '../callers/index.ts';
import { every, inBackground } from '../background.ts';
import { AddressSocket } from './servers/server-address.ts';
import { requestCancel } from './cancel-request.ts';
import { CheckedQuery } from './checked-query.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { lockWaitOf } from './lock-wait.ts';
import { ConnectionFailure, readOnlyState, unconfirmedCommit, unusableStandby } from './connection-failure.ts';
import type { LogPosition } from './replicas/log-position.ts';
import { assertInPlace, type ClientInternals, startupOf } from './pg-internals.ts';
import { readMessages } from './row-parser.ts';
import { ServerSession } from './server-session.ts';
import { StatementBatch } from './statement-batch.ts';
import { type Query, traced } from './statement.ts';

/** Dates and times stay text: the entities' own types parse them, including years before 100 and old offsets. */
const types = new pg.TypeOverrides();
const { DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL } = pg.types.builtins;
for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ, INTERVAL]) types.setTypeParser(type, (text: string) => text);

type PgQuery = [query: string | { readonly text: string }, values?: unknown[]];

/** How often a connection is checked whose response is pending. */
const watchMillis = 100;

/** The timeout for the server to close its side. */
const closeTimeoutMillis = 500;

/** The timeout for all statements of a pipeline to be cancelled, one after the other. */
const abortTimeoutMillis = 2_000;

/**
 * One connection to PostgreSQL, whatever it is for: the pool's, a pipelined one, one for migrations or the CLI.
 *
 * Model: `open` connects and prepares the session; after that it is `pg`'s client.
 * Guarantees: it follows the whole configuration; the session's time zone is UTC; a statement ends after
 * `statementTimeoutMillis`, by the server's own setting on a direct connection and by a cancel request behind a pooler,
 * whose sessions are shared and get no `SET`; on a direct connection it uses no parallel workers.
 * Failure: a connection on which nothing comes back for `responseTimeoutMillis` is destroyed, because a server that is
 * paused or cut off never responds, and TCP reports nothing for minutes (`query_timeout` of `pg` would leave such a
 * connection in use).
 */
export class PgConnection extends pg.Client {
  /** For whom its statements are, while it is leased. */
  caller: Caller | undefined;
  /** Whether it can carry no more statements. */
  isLost = false;
  /** True once it was destroyed because nothing came back. */
  hasTimedOut = false;
  /** When a response last came, or was first pending. */
  progressAt = 0;
  /** How far its standby has replayed, as it has said last. */
  replayed: LogPosition | undefined;
  /** The parameters that its server has reported. */
  readonly session: ServerSession;
  #isAwaitingResponse = false;
  #isOpen = false;
  #watch: NodeJS.Timeout | undefined;
  #cancelling: Promise<void> | undefined;
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    const stream = (): AddressSocket => new AddressSocket(options.address);
    super({ ...options.config, types, stream, keepAlive: true, pipeline: options.isPipelined === true });
    this.#options = options;
    this.session = new ServerSession(options.session);
    const internals = this.#internals;
    readMessages(internals.connection, {
      check: (name) => assertInPlace(name, internals, this.isLost),
      onFailure: (error) => this.destroy((error as Error).message, error),
    });
    internals.connection.on('parameterStatus', (status) => {
      const wasReadOnly = this.session.isReadOnly;
      this.session.record(status);
      if (this.#isOpen && this.session.isReadOnly && !wasReadOnly) this.#options.onReadOnly?.();
      // It says so before the end of the response, which is lost with it.
      if (this.#isOpen && this.#isPromoted) this.destroy('the standby was promoted');
    });
    internals.connection.on('errorMessage', ({ code }) => {
      if (code === readOnlyState && this.#isOpen) this.#options.onReadOnly?.();
    });
    this.on('notice', (notice) => {
      const failure = unconfirmedCommit(notice);
      if (failure === undefined) return;
      internals.connection.emit('errorMessage', failure);
      this.destroy(failure.message);
    });
    this.on('error', (error) => this.destroy(error.message, error));
    this.on('end', () => {
      this.isLost = true;
      clearInterval(this.#watch);
    });
    // `pg` emits it when no response is pending. (Wrapped callbacks would keep all rows: see "Nothing holds a request
    // longer than it runs" in DECISIONS.)
    this.on('drain', () => (this.#isAwaitingResponse = false));
  }

  /** Connects and prepares the session, unless the signal is aborted before. Throws ConnectionFailure. */
  async open(signal: AbortSignal): Promise<this> {
    const { connectTimeoutMillis } = this.#options;
    const timeout = AbortSignal.timeout(connectTimeoutMillis);
    const ending = AbortSignal.any([signal, timeout]);
    const abort = (): void => this.destroy('another server was found, or the time is over');
    ending.addEventListener('abort', abort);
    try {
      await this.connect();
      this.#assertSuitable();
      await this.session.prepare((sql) => this.#query(sql), this.#internals.processID, this.#options);
      this.#assertSuitable();
      this.#isOpen = true;
      this.#watch = every(watchMillis, () => this.#checkProgress());
      return this;
    } catch (error) {
      this.destroy();
      const late = `The database at ${this.#name} did not respond within ${connectTimeoutMillis / 1000} s.`;
      throw new ConnectionFailure(timeout.aborted ? new Error(late) : error);
    } finally {
      ending.removeEventListener('abort', abort);
    }
  }

  /**
   * False once its server was found read-only or silent, or was replaced, and after `Servers.renew`: it is closed when
   * its statements have ended.
   */
  get isCurrent(): boolean {
    return this.#options.isCurrent?.() ?? true;
  }

  // The overloads are those of the base class.
  override query = ((...query: PgQuery) => {
    const [first] = query;
    const text = typeof first === 'string' ? first : first.text;
    this.#options.onStatement?.(text);
    return traced(this.caller, () => text, this.#query(...query));
  }) as pg.Client['query'];

  /** Sends statements in one write, and returns the rows of each. What follows one that fails is not executed. */
  run(queries: readonly Query<unknown>[]): Promise<unknown[][]> {
    // In the embedded database transactions run one by one, so that none waits for a lock.
    const limits = this.session.isCancellable ? lockWaitOf(this.caller) : [];
    const sent = this.#run([...limits, ...queries]);
    const rows = limits.length === 0 ? sent : sent.then((all) => all.slice(limits.length));
    if (!queries.some(({ statement }) => statement.kind === 'write')) return rows;
    this.caller?.recordWrite();
    // The statement may wait for a lock, which nothing tells apart from its work.
    return waiting(this.caller, rows);
  }

  #run(queries: readonly Query<unknown>[]): Promise<unknown[][]> {
    const sent = new Promise<unknown[][]>((resolve, reject) => {
      const end = (error: Error | null, rows: unknown[][] = []): void =>
        error === null ? resolve(rows) : reject(error);
      this.submit(new StatementBatch(queries, end, this.session.keepsStatements));
    });
    return traced(this.caller, () => queries.map(({ statement }) => statement.text).join('; '), sent);
  }

  /** Sends these in one write. The callback of each gets its rows or the error. */
  submit(...batches: StatementBatch[]): void {
    const { onStatement } = this.#options;
    if (onStatement !== undefined) for (const sql of batches.flatMap(({ texts }) => texts)) onStatement(sql);
    const { stream } = this.#internals.connection;
    // Of eight batches, a corked socket takes a third longer for the same write.
    const unwritten: Buffer[] = [];
    for (const batch of batches) {
      batch.unwritten = unwritten;
      this.#send(batch);
      batch.unwritten = undefined;
    }
    if (unwritten.length > 0 && stream.writable) stream.write(Buffer.concat(unwritten));
  }

  /** To be submitted before reads: what it has said when they have ended was so when they began. */
  askReplayed(): StatementBatch {
    const queries = this.#options.replayed === undefined ? [] : [{ statement: this.#options.replayed, values: [] }];
    return new StatementBatch(queries, (_error, rows) => {
      const [position] = (rows?.[0] ?? []) as LogPosition[];
      this.replayed = position ?? this.replayed;
    });
  }

  /** Restarts the wait: a response has come, or is now pending. */
  recordProgress(now = performance.now()): void {
    this.#isAwaitingResponse = true;
    this.progressAt = now;
  }

  /** Cancels a statement that takes too long, and destroys the connection without a response. */
  #checkProgress(): void {
    const { statementTimeoutMillis, responseTimeoutMillis } = this.#options;
    if (!this.#isAwaitingResponse || responseTimeoutMillis === undefined) return;
    const waitedMillis = performance.now() - this.progressAt;
    if (waitedMillis > responseTimeoutMillis) {
      this.hasTimedOut = true;
      this.destroy();
      this.#options.onTimeout?.();
    } else if (this.session.isBehindPooler && waitedMillis > (statementTimeoutMillis ?? Infinity)) {
      inBackground(this.#cancel());
    }
  }

  /** Asks the server to cancel the statement under way, where it can. */
  cancelStatement(): void {
    if (this.session.isCancellable && !this.isLost) inBackground(this.#cancel());
  }

  #cancel(): Promise<void> {
    this.#cancelling ??= requestCancel(this.#internals, this.#options.address).then(
      () => (this.#cancelling = undefined),
    );
    return this.#cancelling;
  }

  /** A cancel request is pending, which could end the next statement instead. */
  get isCancelling(): boolean {
    return this.#cancelling !== undefined;
  }

  /** Closes the connection at once; statements under way fail. */
  destroy(reason = 'no response in time', cause?: unknown): void {
    this.isLost = true;
    this.#internals.connection.stream.destroy(new Error(`Connection terminated: ${reason}`, { cause }));
  }

  /**
   * Ends the statements under way, and closes the connection.
   *
   * Behind a pooler a server that waits for a lock doesn't notice a closed connection, so each statement is cancelled.
   * A cancel request under way is waited for: PgBouncer 1.18 crashes when its connection is closed before.
   */
  async abort(reason: string): Promise<void> {
    const deadline = performance.now() + abortTimeoutMillis;
    // Its end is no sign of a silent server.
    clearInterval(this.#watch);
    await this.#cancelling;
    const mustCancel = (): boolean => this.session.isBehindPooler && this.#isAwaitingResponse && !this.isLost;
    while (mustCancel() && performance.now() < deadline) await this.#cancel();
    this.destroy(reason);
  }

  /** Sends Terminate to the server, and never waits long for one that is paused. */
  async close(): Promise<void> {
    const timeout = setTimeout(() => this.destroy(), closeTimeoutMillis);
    await this.end();
    clearTimeout(timeout);
  }

  #assertSuitable(): void {
    const { targetSession } = this.#options.config;
    const reason = this.session.unsuitable(targetSession);
    if (reason === undefined) return;
    const code = targetSession === 'standby' ? unusableStandby : readOnlyState;
    throw Object.assign(new Error(`The database at ${this.#name} ${reason}.`), { code });
  }

  get #isPromoted(): boolean {
    return this.#options.config.targetSession === 'standby' && this.session.unsuitable('standby') !== undefined;
  }

  get #name(): string {
    const { host, port } = this.#internals;
    return `${host}:${port}`;
  }

  /**
   * Added to what `pg` sends: poolers keep the time zone for each client, as they do the encoding, because every driver
   * for Java sends it.
   */
  protected getStartupConf(): Record<string, string> {
    return { ...startupOf.getStartupConf.call(this), TimeZone: 'UTC' };
  }

  #query(query: PgQuery[0], values?: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const end = (error: Error | null, result?: unknown): void => (error === null ? resolve(result) : reject(error));
      this.#send(new CheckedQuery(query, values, end));
    });
  }

  #send(submittable: object): void {
    this.recordProgress();
    (super.query as (submittable: object) => unknown)(submittable);
  }

  get #internals(): ClientInternals {
    return this as unknown as ClientInternals;
  }
}

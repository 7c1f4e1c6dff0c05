import pg from 'pg';

export interface StoreClientOptions {
  /** A statement that takes longer means a lost server: the connection is given up. Undefined waits for ever. */
  readonly answerTimeoutMillis: number | undefined;
  /** Told every statement that is sent, whoever sends it. */
  readonly onStatement: ((sql: string) => void) | undefined;
}

type Callback = (error: Error | null, result?: unknown) => void;

/**
 * The class of the pool's connections.
 *
 * A server that is paused or cut off never answers, and TCP says nothing for minutes; `query_timeout` of `pg` leaves such a connection in the pool.
 */
export function storeClient({ answerTimeoutMillis, onStatement }: StoreClientOptions): typeof pg.Client {
  return class extends pg.Client {
    // The overloads of `query` are those of the base class; this only stands between.
    override query = ((...args: unknown[]): unknown => {
      onStatement?.(sqlOf(args[0]));
      if (answerTimeoutMillis === undefined) return this.#send(args);
      const timer = setTimeout(() => this.#giveUp(), answerTimeoutMillis);
      const done = (): void => clearTimeout(timer);
      const callback = args.at(-1);
      if (typeof callback === 'function') {
        args[args.length - 1] = (error: Error | null, result?: unknown) => {
          done();
          (callback as Callback)(error, result);
        };
        return this.#send(args);
      }
      const answer = this.#send(args);
      if (answer instanceof Promise) answer.then(done, done);
      else done();
      return answer;
    }) as pg.Client['query'];

    #send(args: unknown[]): unknown {
      return (super.query as (...query: unknown[]) => unknown)(...args);
    }

    #giveUp(): void {
      const { connection } = this as unknown as { connection: { stream: { destroy(error: Error): void } } };
      connection.stream.destroy(new Error('Connection terminated: no answer in time'));
    }
  };
}

function sqlOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : '';
}

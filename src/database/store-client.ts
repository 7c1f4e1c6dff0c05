import pg from 'pg';

import { giveUp } from './given-up.ts';

export interface StoreClientOptions {
  /** A statement that takes longer means a lost server: the connection is given up. Undefined waits for ever. */
  readonly answerTimeoutMillis: number | undefined;
  /** Told every statement that is sent, whoever sends it. */
  readonly onStatement: ((sql: string) => void) | undefined;
}

/**
 * The class of the pool's connections.
 *
 * A server that is paused or cut off never answers, and TCP says nothing for minutes; `query_timeout` of `pg` leaves such a connection in the pool.
 */
export function storeClient({ answerTimeoutMillis, onStatement }: StoreClientOptions): typeof pg.Client {
  return class extends pg.Client {
    #isAnswered = true;
    #isLost = false;
    #patience: NodeJS.Timeout | undefined;

    constructor(config?: string | pg.ClientConfig) {
      super(config);
      this.on('error', () => {
        this.#isLost = true;
      });
      if (answerTimeoutMillis === undefined) return;
      this.#patience = setTimeout(() => {
        if (!this.#isAnswered) giveUp(this);
      }, answerTimeoutMillis).unref();
      // What `pg` says when nothing is waiting any more. (Callbacks wrapped to learn the same make V8 keep all rows until a full collection.)
      this.on('drain', () => {
        this.#isAnswered = true;
      });
    }

    // The overloads of `query` are those of the base class; this only stands between.
    override query = ((...args: unknown[]): unknown => {
      const sql = sqlOf(args[0]);
      onStatement?.(sql);
      this.#isAnswered = false;
      this.#patience?.refresh();
      const answer = (super.query as (...query: unknown[]) => unknown)(...args);
      return sql === 'rollback' && answer instanceof Promise ? this.#rolledBack(answer) : answer;
    }) as pg.Client['query'];

    /** A lost transaction is rolled back as it is. Kysely, told of an error instead, would never give the connection back to the pool. */
    async #rolledBack(answer: Promise<unknown>): Promise<unknown> {
      try {
        return await answer;
      } catch (error) {
        if (this.#isLost) return { command: 'ROLLBACK', rowCount: null, rows: [] };
        throw error;
      }
    }
  };
}

function sqlOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : '';
}

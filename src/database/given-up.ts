import type pg from 'pg';

/** What of `pg`'s client isn't in its types. */
interface Internals {
  readonly connection: { readonly stream: { destroy(error: Error): void } };
}

/** Gives up a connection on which no answer comes: whoever waits for one is told so. */
export function giveUp(client: pg.Client): void {
  const { connection } = client as unknown as Internals;
  connection.stream.destroy(new Error('Connection terminated: no answer in time'));
}

import { currentRequest, runAs, type RequestContext } from '../../domain/access/current-request.ts';
import { DomainError } from '../../domain/errors.ts';
import { recordFailure, throwIfLost } from '../driver-errors.ts';
import type { Parameter, Scalar } from '../parameter.ts';
import type { Query, Session } from './session.ts';
import type { FixedStatement } from './statement.ts';

/** A row to insert. */
interface Entry<Row> {
  readonly parameters: readonly Parameter[];
  readonly request: RequestContext | undefined;
  inserted: Row | undefined;
}

interface Batch<Row> {
  readonly entries: Entry<Row>[];
  sent: Promise<void>;
}

/** The statements of one subject. */
interface Queue<Row> {
  underWay: number;
  /** Batches that wait for an earlier one to end, in their order: the call starts one. */
  readonly waiting: Set<() => void>;
  /** The batch that takes more rows. */
  gathering: Batch<Row> | undefined;
}

/** Enough for one to be sent while another is written to disk. */
const maxUnderWay = 2;
const maxRows = 100;

/** Together with the waits for a connection and for the response less than 5 seconds. */
const maxWaitMillis = 400;

/**
 * Inserts rows in one statement that come at the same time, outside of transactions: a commit waits for the disk, however many rows it has.
 *
 * Model: while two statements of a subject (a key) are under way, its further rows gather, and the next statement inserts them all. A row
 * without others at its time is a statement of its own. Guarantees: rows of different subjects are never in one statement; a row that the
 * database refuses doesn't
 * fail others, because then each is inserted alone; a row whose client has disconnected before its statement is not inserted; no row waits
 * longer than 400 ms for earlier statements. Failure: a lost database fails all rows of a statement, of which all or none have been written.
 */
export class InsertBatches<Row> {
  readonly #one: FixedStatement<Row>;
  readonly #many: FixedStatement<Row>;
  readonly #queues = new Map<string, Queue<Row>>();

  /** The parameters of `many` are those of `one`, as lists, and it returns its rows in their order. */
  constructor(one: FixedStatement<Row>, many: FixedStatement<Row>) {
    this.#one = one;
    this.#many = many;
  }

  async insert(session: Session, row: readonly Parameter[]): Promise<Row | undefined> {
    const request = currentRequest();
    throwIfLost(request);
    const batch = this.#batchOf(session, request?.subjectId ?? '');
    const entry: Entry<Row> = { parameters: row, request, inserted: undefined };
    batch.entries.push(entry);
    try {
      await batch.sent;
      throwIfLost(request);
      return entry.inserted;
    } catch (error) {
      const isLost = error instanceof DomainError && error.code === 'UNAVAILABLE';
      if (isLost || batch.entries.length === 1) throw recordFailure(error, request);
      const [inserted] = await session.run(this.#one.with(row));
      return inserted;
    }
  }

  #batchOf(session: Session, subject: string): Batch<Row> {
    let queue = this.#queues.get(subject);
    if (queue === undefined)
      this.#queues.set(subject, (queue = { underWay: 0, waiting: new Set(), gathering: undefined }));
    if (queue.gathering !== undefined && queue.gathering.entries.length < maxRows) return queue.gathering;
    const batch: Batch<Row> = { entries: [], sent: Promise.resolve() };
    queue.gathering = batch;
    // In a context of its own: the client of one row can't end the statement of all.
    batch.sent = runAs(subject, () => this.#send(session, batch, queue, subject));
    return batch;
  }

  async #send(session: Session, batch: Batch<Row>, queue: Queue<Row>, subject: string): Promise<void> {
    if (queue.underWay >= maxUnderWay) await waitForTurn(queue);
    queue.underWay += 1;
    // Rows that arrive in this turn of the event loop are in the same statement.
    await new Promise((resolve) => void setImmediate(resolve));
    if (queue.gathering === batch) queue.gathering = undefined;
    try {
      await this.#insert(
        session,
        batch.entries.filter(({ request }) => request?.failure === undefined),
      );
    } finally {
      queue.underWay -= 1;
      const [next] = queue.waiting;
      next?.();
      if (next === undefined && queue.underWay === 0 && queue.gathering === undefined) this.#queues.delete(subject);
    }
  }

  async #insert(session: Session, entries: readonly Entry<Row>[]): Promise<void> {
    if (entries.length === 0) return;
    for (const { request } of entries) request?.recordWrite();
    const rows = await session.run(this.#statementOf(entries.map(({ parameters }) => parameters)));
    for (const [index, row] of rows.entries()) if (entries[index] !== undefined) entries[index].inserted = row;
  }

  #statementOf([first = [], ...others]: readonly (readonly Parameter[])[]): Query<Row> {
    if (others.length === 0) return this.#one.with(first);
    return this.#many.with(first.map((value, index) => [value, ...others.map((row) => row[index])] as Scalar[]));
  }
}

function waitForTurn({ waiting }: Pick<Queue<unknown>, 'waiting'>): Promise<void> {
  return new Promise((resolve) => {
    const begin = (): void => {
      clearTimeout(timeout);
      waiting.delete(begin);
      resolve();
    };
    const timeout = setTimeout(begin, maxWaitMillis);
    waiting.add(begin);
  });
}

import { currentRequest, type RequestContext } from '../../domain/access/current-request.ts';
import { DomainError } from '../../domain/errors.ts';
import { ClientBatches } from '../client-batches.ts';
import { recordFailure, throwIfLost } from '../../postgres/driver-errors.ts';
import type { Parameter } from '../../postgres/messages.ts';
import { type FixedStatement, type Session, together } from '../../postgres/statement.ts';

/** A row to insert. */
interface WaitingRow<Row> {
  readonly session: Session;
  readonly parameters: readonly Parameter[];
  readonly request: RequestContext | undefined;
  inserted: Row | undefined;
  isAlone: boolean;
}

const maxRows = 100;

/**
 * Inserts rows in one statement that come at the same time, outside of transactions: a commit waits for the disk,
 * however many rows it has.
 *
 * Guarantees, besides those of `ClientBatches`: a row without others at its time is a statement of its own; a row that
 * the database refuses doesn't fail others, because then each is inserted alone; a row whose client has disconnected
 * before its statement is not inserted.
 * Failure: a lost database fails all rows of a statement, of which all or none have been written.
 */
export class InsertBatches<Row> {
  readonly #one: FixedStatement<Row>;
  readonly #batches = new ClientBatches<WaitingRow<Row>>(maxRows, (entries) => this.#insert(entries));

  /** The statement must have a form for many rows. */
  constructor(one: FixedStatement<Row>) {
    this.#one = one;
  }

  async insert(session: Session, row: readonly Parameter[]): Promise<Row | undefined> {
    const request = currentRequest();
    throwIfLost(request);
    const entry: WaitingRow<Row> = { session, parameters: row, request, inserted: undefined, isAlone: false };
    try {
      await this.#batches.add(request?.subjectId ?? '', entry);
      throwIfLost(request);
      return entry.inserted;
    } catch (error) {
      const isLost = error instanceof DomainError && error.code === 'UNAVAILABLE';
      if (isLost || entry.isAlone) throw recordFailure(error, request);
      const [inserted] = await session.run(this.#one.with(row));
      return inserted;
    }
  }

  async #insert(all: readonly WaitingRow<Row>[]): Promise<void> {
    const entries = all.filter(({ request }) => request?.failure === undefined);
    const [first] = entries;
    if (first === undefined) return;
    first.isAlone = all.length === 1;
    for (const { request } of entries) request?.recordWrite();
    const rows = await first.session.run(together(entries.map(({ parameters }) => this.#one.with(parameters))));
    for (const [index, row] of rows.entries()) if (entries[index] !== undefined) entries[index].inserted = row;
  }
}

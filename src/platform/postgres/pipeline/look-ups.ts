import { inBackground } from '../../background.ts';
import type { Caller } from '../../callers/index.ts';
import { isLocked, isLoss, isTimeout, recordFailure, throwIfLost } from '../driver-errors.ts';
import { UnreadableRow } from '../failures.ts';
import type { SomeCallers } from './pipelined-connection.ts';
import type { LookUp, Query } from '../statement.ts';

/** Who waits for the row with this id. */
interface IdWanted {
  readonly lookUp: LookUp<unknown>;
  readonly caller: Caller;
  readonly id: string;
  /** With the row, or why there is none. */
  readonly settle: (found: unknown) => void;
}

/** Rejects with the driver's error. */
type Read = (query: Query<unknown>, callers: SomeCallers) => Promise<unknown[]>;

/** More in one statement would save little, and keep the others waiting. */
const maxTogether = 100;

/**
 * Batches the look-ups of one tick of the event loop: those of one client and of the same kind are read by one
 * statement for up to 100, whichever of its requests they are for. That is less work than a statement for each, for
 * PostgreSQL as for us.
 *
 * Guarantees: each caller gets the row with its id, or undefined; callers with the same id may get the same object.
 * Failure: a database that is lost or too slow, or a locked table, fails all callers of a statement, because none of
 * its rows can be what takes the time (it waits for no row's lock); a row that can't be read fails only those who have
 * asked for it. For any other reason each look-up is retried alone, so that each caller has waited for itself.
 */
export class LookUps {
  readonly #read: Read;
  #wanted: IdWanted[] = [];

  constructor(read: Read) {
    this.#read = read;
  }

  /** The row is read by the next `readAll`. */
  load(lookUp: LookUp<unknown>, caller: Caller, id: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settle = (found: unknown): void => (found instanceof Error ? reject(found) : resolve(found));
      this.#wanted.push({ lookUp, caller, id, settle });
    });
  }

  readAll(): void {
    const wanted = this.#wanted;
    this.#wanted = [];
    for (const ofKind of Map.groupBy(wanted, ({ lookUp }) => lookUp).values())
      for (const ofClient of Map.groupBy(ofKind, ({ caller }) => caller.id).values())
        while (ofClient.length > 0) inBackground(this.#readTogether(ofClient.splice(0, maxTogether)));
  }

  async #readTogether(wanted: readonly IdWanted[]): Promise<void> {
    const rows = this.#rowsOf(wanted as [IdWanted, ...IdWanted[]]);
    const found = await rows.catch((error: unknown) => wanted.map(() => error));
    for (const [index, { settle }] of wanted.entries()) settle(found[index]);
  }

  async #rowsOf(wanted: readonly [IdWanted, ...IdWanted[]]): Promise<unknown[]> {
    const [first, ...others] = wanted;
    const { lookUp } = first;
    if (others.length === 0) return [await this.#readOne(first)];
    const ids = wanted.map(({ id }) => id);
    const callers: SomeCallers = [first.caller, ...others.map(({ caller }) => caller)];
    let rows: unknown[];
    try {
      rows = await this.#read({ statement: lookUp.byAnyId, values: [ids] }, callers);
    } catch (error) {
      return Promise.all(
        wanted.map(async (each) => (isForAll(error) ? recordFailure(error, each.caller) : this.#readOne(each))),
      );
    }
    const find = rowsById(lookUp, rows);
    return wanted.map(({ id, caller }) => {
      const row = find(id);
      return row instanceof UnreadableRow ? recordFailure(row, caller) : row;
    });
  }

  /** The row, or its failure. */
  async #readOne({ lookUp, caller, id }: IdWanted): Promise<unknown> {
    try {
      throwIfLost(caller);
      const query = { statement: lookUp.byId, values: [id] };
      return (await this.#read(query, [caller]))[0];
    } catch (error) {
      return recordFailure(error, caller);
    }
  }
}

/** No id is its cause, so the same would happen to each alone. */
function isForAll(error: unknown): boolean {
  return isLoss(error) || isTimeout(error) || isLocked(error);
}

/** Finds the rows of a look-up for several ids. */
export function rowsById<Row>(
  { idOf }: Pick<LookUp<Row>, 'idOf'>,
  rows: readonly (Row | UnreadableRow)[],
): (id: string) => Row | UnreadableRow | undefined {
  const byId = new Map(rows.map((row) => [row instanceof UnreadableRow ? row.id : idOf(row), row]));
  return (id) => byId.get(id);
}

import DataLoader from 'dataloader';

import type { Caller } from '../../callers/index.ts';
import { isLocked, isLoss, isTimeout, recordFailure, throwIfLost } from '../driver-errors.ts';
import { UnreadableRow } from '../failures.ts';
import type { SomeCallers } from './pipelined-connection.ts';
import type { LookUp, Query } from '../statement.ts';

/** Who waits for the row with this id. */
interface IdWanted {
  readonly caller: Caller;
  readonly id: string;
}

interface Sender {
  /** Rejects with the driver's error. */
  readonly read: (query: Query<unknown>, callers: SomeCallers) => Promise<unknown[]>;
  /** Calls it before the reads of this tick of the event loop are sent. */
  readonly beforeEnd: (work: () => void) => void;
}

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
  readonly #sender: Sender;
  /** New ones for each tick: a loader keeps its last batch. */
  #loaders: {
    readonly lookUp: LookUp<unknown>;
    readonly clientId: string;
    readonly loader: DataLoader<IdWanted, unknown>;
  }[] = [];

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  load(lookUp: LookUp<unknown>, wanted: IdWanted): Promise<unknown> {
    return this.#loaderFor(lookUp, wanted.caller.id).load(wanted);
  }

  #loaderFor(lookUp: LookUp<unknown>, clientId: string): DataLoader<IdWanted, unknown> {
    const { beforeEnd } = this.#sender;
    const known = this.#loaders.find((each) => each.lookUp === lookUp && each.clientId === clientId);
    if (known !== undefined) return known.loader;
    if (this.#loaders.length === 0) beforeEnd(() => (this.#loaders = []));
    const loader = new DataLoader<IdWanted, unknown>((wanted) => this.#readAll(lookUp, wanted), {
      cache: false,
      maxBatchSize: maxTogether,
      batchScheduleFn: beforeEnd,
    });
    this.#loaders.push({ lookUp, clientId, loader });
    return loader;
  }

  async #readAll(lookUp: LookUp<unknown>, wanted: readonly IdWanted[]): Promise<unknown[]> {
    const [first, ...others] = wanted as [IdWanted, ...IdWanted[]];
    if (others.length === 0) return [await this.#readOne(lookUp, first)];
    const ids = wanted.map(({ id }) => id);
    const callers: SomeCallers = [first.caller, ...others.map(({ caller }) => caller)];
    let rows: unknown[];
    try {
      rows = await this.#sender.read({ statement: lookUp.byAnyId, values: [ids] }, callers);
    } catch (error) {
      return Promise.all(
        wanted.map(async (each) => (isForAll(error) ? recordFailure(error, each.caller) : this.#readOne(lookUp, each))),
      );
    }
    const find = rowsById(lookUp, rows);
    return wanted.map(({ id, caller }) => {
      const row = find(id);
      return row instanceof UnreadableRow ? recordFailure(row, caller) : row;
    });
  }

  /** The row, or its failure: `DataLoader` rejects what is an error. */
  async #readOne(lookUp: LookUp<unknown>, { caller, id }: IdWanted): Promise<unknown> {
    try {
      throwIfLost(caller);
      const query = { statement: lookUp.byId, values: [id] };
      return (await this.#sender.read(query, [caller]))[0];
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

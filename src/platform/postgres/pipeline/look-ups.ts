import { inBackground } from '../../background.ts';
import type { Caller, Lease } from '../../callers/index.ts';
import { isLocked, isLoss, isTimeout, recordFailure, throwIfLost } from '../driver-errors.ts';
import { UnreadableRow } from '../failures.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { SomeCallers } from './pipelined-connection.ts';
import type { LookUp, Query } from '../statement.ts';

/** Who waits for the row with this id. */
interface IdWanted {
  readonly lookUp: LookUp<unknown>;
  readonly caller: Caller;
  readonly id: string;
  /** The same for all look-ups of a kind. */
  readonly replicas: Replicas | undefined;
  readonly resolve: (row: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Rejects with the driver's error. */
type Read = (query: Query<unknown>, callers: SomeCallers, replicas: Replicas | undefined) => Promise<unknown[]>;

export interface LookUpOptions {
  readonly read: Read;
  /** One of the reads that a client may have under way; undefined when it has none left. */
  readonly tryTake: (caller: Caller) => Lease | undefined;
}

/** More in one statement would save little, and keep the others waiting. */
const maxTogether = 100;

/** Of one client in a statement with those of others, which don't wait for more. */
const maxOfClient = 10;

/**
 * Batches the look-ups of one tick of the event loop: those of the same kind are read by one statement for up to 100,
 * whichever requests they are for. That is less work than a statement for each, for PostgreSQL as for us. A client with
 * more than ten has a statement of its own, and so has one that has as many reads under way as it may have.
 *
 * Guarantees: each caller gets the row with its id, or undefined; callers with the same id may get the same object.
 * Failure: a database that is lost or too slow, or a locked table, fails all callers of a statement, because none of
 * its rows can be what takes the time (it waits for no row's lock); a row that can't be read fails only those who have
 * asked for it. For any other reason each look-up is retried alone, so that each caller has waited for itself.
 */
export class LookUps {
  readonly #options: LookUpOptions;
  #wanted: IdWanted[] = [];

  constructor(options: LookUpOptions) {
    this.#options = options;
  }

  /** The row is read by the next `readAll`. */
  load(lookUp: LookUp<unknown>, caller: Caller, id: string, replicas?: Replicas): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#wanted.push({ lookUp, caller, id, replicas, resolve, reject });
    });
  }

  readAll(): void {
    const wanted = this.#wanted;
    this.#wanted = [];
    for (const ofKind of Map.groupBy(wanted, ({ lookUp }) => lookUp).values()) {
      const shared: IdWanted[] = [];
      const leases: Lease[] = [];
      const clients = Map.groupBy(ofKind, ({ caller }) => caller.id);
      for (const ofClient of clients.values()) {
        const lease = clients.size > 1 ? this.#tryShare(ofClient) : undefined;
        if (lease === undefined) inBackground(this.#readInParts(ofClient));
        else {
          leases.push(lease);
          shared.push(...ofClient);
        }
      }
      if (shared.length > 0)
        inBackground(this.#readInParts(shared).finally(() => leases.forEach((lease) => lease.release())));
    }
  }

  #tryShare(ofClient: readonly IdWanted[]): Lease | undefined {
    const [first] = ofClient;
    return first === undefined || ofClient.length > maxOfClient ? undefined : this.#options.tryTake(first.caller);
  }

  async #readInParts(wanted: IdWanted[]): Promise<void> {
    const parts: Promise<void>[] = [];
    while (wanted.length > 0) parts.push(this.#readTogether(wanted.splice(0, maxTogether)));
    await Promise.all(parts);
  }

  async #readTogether(wanted: readonly IdWanted[]): Promise<void> {
    const [first, ...others] = wanted as [IdWanted, ...IdWanted[]];
    if (others.length === 0) return this.#readAlone(first);
    const { lookUp, replicas } = first;
    const callers: SomeCallers = [first.caller, ...others.map(({ caller }) => caller)];
    try {
      const query = { statement: lookUp.byAnyId, values: [wanted.map(({ id }) => id)] };
      const find = rowsById(lookUp, await this.#options.read(query, callers, replicas));
      for (const { caller, id, resolve, reject } of wanted) {
        const row = find(id);
        if (row instanceof UnreadableRow) reject(recordFailure(row, caller));
        else resolve(row);
      }
    } catch (error) {
      if (!isForAll(error)) await Promise.all(wanted.map((each) => this.#readAlone(each)));
      else for (const { caller, reject } of wanted) reject(recordFailure(error, caller));
    }
    return undefined;
  }

  async #readAlone({ lookUp, caller, id, replicas, resolve, reject }: IdWanted): Promise<void> {
    try {
      throwIfLost(caller);
      const [row] = await this.#options.read({ statement: lookUp.byId, values: [id] }, [caller], replicas);
      resolve(row);
    } catch (error) {
      reject(recordFailure(error, caller));
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

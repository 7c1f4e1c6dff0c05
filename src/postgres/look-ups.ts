import { isUnavailable, recordFailure } from './driver-errors.ts';
import type { Caller, PendingRead } from './pending-read.ts';
import type { LookUp } from './session.ts';

/** Who waits for the row with this id. */
interface LookUpCaller extends Caller {
  readonly id: string;
  readonly resolve: (row: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Those who are served by one statement. */
interface LookUpBatch {
  readonly lookUp: LookUp<unknown>;
  readonly subject: string;
  readonly callers: LookUpCaller[];
}

/** More in one statement would save little, and keep the others waiting. */
const maxTogether = 100;

/**
 * Collects the look-ups of one tick of the event loop: those of one client and of the same kind are read by one
 * statement for up to 100, whichever of its requests they are for. That takes a fraction of the work that a statement
 * for each takes, for PostgreSQL as for us.
 *
 * Guarantees: each caller gets the row with its id, or undefined; callers with the same id get the same object.
 * Failure: a database that is lost or too slow fails all callers of a statement; for any other reason, such as a row
 * that can't be read, each look-up is retried alone.
 */
export class LookUps {
  /**
   * The last one of a kind takes more callers. (An array: a map's old tables would hold callers until a full
   * collection.)
   */
  #batches: LookUpBatch[] = [];
  readonly #retry: (read: PendingRead) => void;

  constructor(retry: (read: PendingRead) => void) {
    this.#retry = retry;
  }

  add(lookUp: LookUp<unknown>, caller: LookUpCaller): void {
    const subject = caller.request?.subjectId ?? '';
    const batch = this.#batches.findLast((each) => each.lookUp === lookUp && each.subject === subject);
    if (batch !== undefined && batch.callers.length < maxTogether) batch.callers.push(caller);
    else this.#batches.push({ lookUp, subject, callers: [caller] });
  }

  /** Removes what has been collected, and returns the reads for it. */
  take(): PendingRead[] {
    const batches = this.#batches;
    this.#batches = [];
    return batches.map(({ lookUp, subject, callers }) => {
      const [first, ...others] = callers as [LookUpCaller, ...LookUpCaller[]];
      return others.length === 0 ? readOne(lookUp, first) : this.#readMany({ lookUp, subject, callers });
    });
  }

  #readMany({ lookUp, subject, callers }: LookUpBatch): PendingRead {
    const many: PendingRead = {
      read: lookUp.readMany(callers.map(({ id }) => id)),
      subject,
      callers,
      resolve: (rows) => {
        const byId = new Map(rows.map((row) => [lookUp.idOf(row), row]));
        for (const { id, resolve } of callers) resolve(byId.get(id));
      },
      reject: (error) => {
        for (const caller of callers) {
          const one = readOne(lookUp, caller, many.isRetried);
          const isLost = isUnavailable(error) || caller.request?.failure !== undefined;
          if (isLost) one.reject(error);
          else this.#retry(one);
        }
      },
      isRetried: false,
    };
    return many;
  }
}

function readOne(lookUp: LookUp<unknown>, caller: LookUpCaller, isRetried = false): PendingRead {
  const { id, request, resolve, reject } = caller;
  return {
    read: lookUp.readOne(id),
    subject: request?.subjectId ?? '',
    callers: [caller],
    resolve: ([row]) => resolve(row),
    reject: (error) => reject(recordFailure(error, request)),
    isRetried,
  };
}

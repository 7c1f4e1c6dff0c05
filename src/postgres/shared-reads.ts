import type { RequestContext } from '../domain/access/current-request.ts';
import { recordFailure } from './driver-errors.ts';
import { executionMessage } from './execution-message.ts';
import type { PendingRead } from './pending-read.ts';
import type { PreparedQuery } from './session.ts';
import type { TracedCaller } from './statement-span.ts';

/** Who waits for the rows. */
interface Caller {
  readonly request: RequestContext | undefined;
  readonly traced?: TracedCaller | undefined;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Coalesces equal reads: those of one client in one tick of the event loop are sent once, whichever of its requests
 * they are for.
 *
 * Guarantees: a read begins after all of its callers have asked for it, because nothing is sent before the tick ends.
 * They get the same rows, which they must not change, or the same failure. Who asks after a failure in the same tick
 * gets a new read.
 */
export class SharedReads {
  /**
   * By the client, and the message that is sent for them: the name and the values, as PostgreSQL gets them. (A new map
   * for each tick: cleared ones would hold callers until a full collection.)
   */
  #callers = new Map<string, Caller[]>();

  /** Returns what is to be sent; undefined when an equal read of this tick serves the caller as well. */
  add(read: PreparedQuery<unknown>, caller: Caller): PendingRead | undefined {
    const message = executionMessage(read.name, read.values);
    const subject = caller.request?.subjectId ?? '';
    const key = `${subject} ${message}`;
    const others = this.#callers.get(key);
    if (others !== undefined) {
      others.push(caller);
      return undefined;
    }
    const callers = [caller];
    this.#callers.set(key, callers);
    return {
      read,
      message,
      subject,
      resolve: (rows) => {
        for (const { resolve } of callers) resolve(rows);
      },
      reject: (error) => {
        // In a later tick the message may be that of another read.
        if (this.#callers.get(key) === callers) this.#callers.delete(key);
        for (const { request, reject } of callers) reject(recordFailure(error, request));
      },
      traced: () => tracedOf(callers),
      failure: () => failureOfAll(callers),
      isRetried: false,
    };
  }

  /** The tick has ended: what is asked for from now on may have changed since. */
  endTick(): void {
    if (this.#callers.size > 0) this.#callers = new Map();
  }
}

/** The failure of the requests, when all of them have failed. */
export function failureOfAll(callers: readonly Pick<Caller, 'request'>[]): Error | undefined {
  const isWanted = callers.some(({ request }) => request?.failure === undefined);
  return isWanted ? undefined : callers[0]?.request?.failure;
}

const none: readonly TracedCaller[] = [];

/** Those whose requests are traced. */
export function tracedOf(callers: readonly Pick<Caller, 'traced'>[]): readonly TracedCaller[] {
  // Almost always: without an SDK of OpenTelemetry.
  if (callers.every(({ traced }) => traced === undefined)) return none;
  return callers.flatMap(({ traced }) => traced ?? []);
}

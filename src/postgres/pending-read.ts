import type { Lease } from '../account/share.ts';
import type { RequestContext } from '../domain/access/current-request.ts';
import type { PreparedQuery } from './session.ts';
import type { TracedCaller } from './statement-span.ts';

/** Who waits for a read. */
export interface Caller {
  /** Undefined for the service's own work. */
  readonly request: RequestContext | undefined;
  readonly traced?: TracedCaller | undefined;
}

/** A read, and what gets its rows or the driver's error. */
export interface PendingRead {
  readonly query: PreparedQuery<unknown>;
  /** The client (a key) that it is for; empty for the service's own work. */
  readonly subject: string;
  /** All are of this client. */
  readonly callers: readonly Caller[];
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
  /** It has been retried, and won't be again. */
  isRetried: boolean;
  /** While it is sent, or waits to be retried: one of those that its client may have under way. */
  lease?: Lease | undefined;
  /** When it was sent last. */
  sentAt?: number;
}

/** The failure of the requests, when all of them have failed: what they wait for is not needed any more. */
export function failureOfAll(callers: readonly Caller[]): Error | undefined {
  const isWanted = callers.some(({ request }) => request?.failure === undefined);
  return isWanted ? undefined : callers[0]?.request?.failure;
}

const none: readonly TracedCaller[] = [];

/** Those whose requests are traced. */
export function tracedOf(callers: readonly Caller[]): readonly TracedCaller[] {
  // Almost always: without an SDK of OpenTelemetry.
  if (callers.every(({ traced }) => traced === undefined)) return none;
  return callers.flatMap(({ traced }) => traced ?? []);
}

import type { Lease } from '../account/share.ts';
import type { PreparedQuery } from './session.ts';
import type { TracedCaller } from './statement-span.ts';

/** A read, and what gets its rows or its failure. */
export interface PendingRead {
  readonly read: PreparedQuery<unknown>;
  /** The client (a key) that it is for; empty for the service's own work. */
  readonly subject: string;
  /** The `executionMessage` of the read, if it has been built already. */
  readonly message?: string;
  readonly resolve: (rows: unknown[]) => void;
  readonly reject: (error: Error) => void;
  /** Those whom it serves so far, where their requests are traced. */
  readonly traced: () => readonly TracedCaller[];
  /** Why it is not needed any more; undefined while it is. */
  readonly failure: () => Error | undefined;
  /** It has been retried, and won't be again. */
  isRetried: boolean;
  /** While it is sent, or waits to be retried: one of those that its client may have under way. */
  lease?: Lease | undefined;
  /** When it was sent last. */
  sentAt?: number;
}

import type { Lease } from '../account/share.ts';
import type { Parameter } from './parameter.ts';
import type { Decode } from './prepared-statement.ts';
import type { TracedCaller } from './statement-span.ts';

/** A prepared read, which changes nothing. Its name always means the same text, and the same kind of rows. */
export interface Read {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Parameter[];
  /** Depends on nothing but the fields. Without it rows are objects, with the values that `pg` parses. */
  readonly decode?: Decode | undefined;
}

/** A read, and what gets its rows or its failure. */
export interface PendingRead {
  readonly read: Read;
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

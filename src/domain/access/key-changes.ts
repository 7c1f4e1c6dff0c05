import type { Id } from '../id.ts';
import type { ApiKeyChange } from './api-key-change.entity.ts';

/** An entry of the history, with the name of its key. */
export interface NamedKeyChange extends Pick<ApiKeyChange, 'at' | 'by' | 'action' | 'changes'> {
  readonly id: Id;
  readonly keyId: Id;
  /** Null when the key has been deleted since. */
  readonly name: string | null;
}

interface LatestChanges {
  /** The id of the last entry, zero for an empty history. */
  readonly latest: Id;
  /** Oldest first. */
  readonly changes: readonly NamedKeyChange[];
}

/** The history of all keys. Ids of entries increase in the order in which the changes were committed. */
export interface KeyChanges {
  /**
   * The first entries after this one, at most so many; none without one. One statement.
   *
   * Throws UNAVAILABLE when the database can't be reached.
   */
  readAfter(id: Id | undefined, limit: number): Promise<LatestChanges>;
}

import type { Id } from '../id.ts';
import type { DomainError } from '../errors.ts';
import type { BanRecord } from '../../platform/quotas/index.ts';
import type { KeyHash } from './api-key.ts';
import type { StoredPlan } from './plan.ts';
import type { ApiKeyChange } from './api-key-change.entity.ts';

/** The properties of a key that decide about its requests. Instants are milliseconds since 1970. */
export interface KeyRecord extends StoredPlan {
  readonly id: Id;
  readonly sha256: KeyHash;
  /** The hash of the secret before the latest rotation, and when it expires. */
  readonly previousSha256: KeyHash | null;
  readonly previousSecretExpiresAt: number | null;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly bans: BanRecord;
  /** UNAVAILABLE, because this version can't say what the key may do: it has a plan of a newer one. */
  readonly failure: DomainError | undefined;
}

/** The keys as committed at one instant. */
export interface KeyVersion {
  /** Increases with every change of any key, in commit order. */
  readonly changes: string;
  /** How many statements have deleted keys. */
  readonly deletions: string;
}

interface KeyNews {
  readonly latest: KeyVersion;
  readonly keys: readonly KeyRecord[];
  /** False when `keys` doesn't cover all changes: there were too many, a deletion, or a restored backup. */
  readonly isComplete: boolean;
}

/** Each method is one statement of bounded size, and throws UNAVAILABLE when the database can't be reached. */
export interface KeyRecords {
  /** The keys with these hashes, and those that have changed since that version, as of one instant. */
  read(hashes: readonly KeyHash[], since: KeyVersion | undefined): Promise<KeyNews>;
  /** The keys with these ids; those that have been deleted are missing. */
  readByIds(ids: readonly Id[]): Promise<readonly KeyRecord[]>;
}

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
  /** The first entries after this one, none without one. Throws UNAVAILABLE when the database can't be reached. */
  readAfter(id: Id | undefined, limit: number): Promise<LatestChanges>;
}

import { DomainError } from '../domain/errors.ts';
import type { KeyHash } from '../domain/access/api-key.ts';
import type { KeyRecord } from '../domain/access/key-records.ts';
import { limitsOf } from '../domain/access/plan.ts';
import type { Principal } from '../domain/access/principal.ts';
import type { LruMap } from '../platform/lru-map.ts';
import type { BanRecord } from '../platform/quotas/index.ts';

const neverBanned: BanRecord = { epoch: 0, bannedUntil: 0, automaticBans: [] };

/** What is kept of a key, of which there are many: only what decides about its requests. */
export interface KnownKey {
  /** Undefined for one that is revoked. */
  readonly principal: Principal | DomainError | undefined;
  readonly sha256: KeyHash;
  /** In milliseconds since 1970. */
  readonly expiresAt: number | null;
  readonly previous: PreviousSecret | undefined;
}

interface PreviousSecret {
  readonly sha256: KeyHash;
  readonly expiresAt: number | null;
}

/** Equal lists of scopes become one. */
export function knownKeyOf(record: KeyRecord, scopes: LruMap<string, readonly string[]>): KnownKey {
  const { failure, sha256, previousSha256, previousSecretExpiresAt, expiresAt, revokedAt } = record;
  return {
    principal: revokedAt === null ? (failure ?? newPrincipal(record, scopes)) : undefined,
    sha256,
    expiresAt,
    previous: previousSha256 === null ? undefined : { sha256: previousSha256, expiresAt: previousSecretExpiresAt },
  };
}

/** Undefined for a secret that isn't valid at the time. Throws UNAVAILABLE for a key that this version can't read. */
export function principalOf(key: KnownKey, hash: KeyHash, now: number): Principal | undefined {
  const { principal } = key;
  if (now >= validUntil(key, hash)) return undefined;
  if (principal instanceof DomainError) throw principal;
  return principal;
}

function newPrincipal(record: KeyRecord, scopes: LruMap<string, readonly string[]>): Principal {
  const { id, name, plan, expiresAt, bans } = record;
  const isNew = bans.epoch === 0 && bans.bannedUntil === 0 && bans.automaticBans.length === 0;
  return {
    id,
    name,
    plan,
    scopes: shared(record.scopes, scopes),
    expiresAt,
    limits: limitsOf(record),
    bans: isNew ? neverBanned : bans,
    isAnonymous: false,
  };
}

function shared(list: readonly string[], lists: LruMap<string, readonly string[]>): readonly string[] {
  const text = list.join();
  const known = lists.get(text);
  if (known === undefined) lists.set(text, list);
  return known ?? list;
}

/** In milliseconds since 1970. The previous secret expires with its overlap; older ones have expired. */
function validUntil({ sha256, expiresAt, previous }: KnownKey, hash: KeyHash): number {
  const end = expiresAt ?? Infinity;
  if (hash === sha256) return end;
  return hash === previous?.sha256 ? Math.min(end, previous.expiresAt ?? -Infinity) : -Infinity;
}

import { hash as digest, timingSafeEqual } from 'node:crypto';

import { SharedWork, within } from '../platform/background.ts';
import { LruMap } from '../platform/lru-map.ts';
import type { Id } from '../domain/id.ts';
import { parseKey, type KeyHash } from '../domain/access/api-key.ts';
import type { KeyRecord, KeyRecords, KeyVersion } from '../domain/access/key-records.ts';
import { businessLimits } from '../domain/access/plan.ts';
import { adminId, type Principal } from '../domain/access/principal.ts';
import { knownKeyOf, type KnownKey, principalOf } from './known-key.ts';

/*
 * Caches the keys in use, so that a request costs no lookup.
 *
 * Model. A map leads from known secrets to the id of their key, another from the id to the key. While there are
 * requests, a round every 400 ms reads the changes since the last one, at most 1,000. When there were more, keys have
 * been deleted, or a backup has been restored, the round reads every known key again by its id, 1,000 at a time, and
 * discards the list of unknown secrets. An idle process sends nothing.
 *
 * Guarantees. A change holds within a second, or within seconds when the known keys have to be read again; it never
 * depends on how many keys there are or have changed, but on how many are known: at most 100,000, of 0.4 KB each. There
 * is one round at a time, so that an older state never overwrites a newer one, and wrong secrets, however many, never
 * occupy more than one connection.
 *
 * Failures. Without the database, or while a round takes longer than 400 ms, known keys stay valid as last read; a
 * well-formed unknown secret waits for the round, and is UNAVAILABLE when it fails. A round that fails is repeated from
 * the same version. A key that this version can't read is UNAVAILABLE, and reported once; the round goes on.
 */

export interface KeyDirectoryOptions {
  readonly adminKey?: string | undefined;
  /** Of the database. */
  readonly now: () => number;
  /** Called once for each state of a key that this version can't read. Must not throw. */
  readonly onUnreadable?: ((cause: Error) => void) | undefined;
}

/** Together less than a second, which is how soon a change has to hold. */
const refreshAfterMillis = 400;
const staleAfterMillis = 900;
/** How long a request for a known key waits for a round. */
const refreshTimeoutMillis = 400;

const maxKnownKeys = 50_000;
const maxUnknownKeys = 10_000;
const recheckBatchSize = 1_000;
/** Of which it is remembered that they were reported. */
const maxReported = 1_000;
/** Lists of scopes that keys share. */
const maxScopes = 100;

interface AdminKey {
  readonly length: number;
  readonly hash: Buffer;
}

interface Round {
  readonly requested: ReadonlySet<KeyHash>;
  readonly found: ReadonlyMap<KeyHash, KnownKey>;
}

export class KeyDirectory {
  readonly #records: KeyRecords;
  readonly #now: () => number;
  readonly #admin: AdminKey | undefined;
  readonly #onUnreadable: KeyDirectoryOptions['onUnreadable'];
  readonly #reported = new LruMap<string, true>(maxReported);
  readonly #scopes = new LruMap<string, readonly string[]>(maxScopes);
  /** A key can have two secrets. */
  readonly #ids = new LruMap<KeyHash, Id>(maxKnownKeys);
  readonly #keys = new LruMap<Id, KnownKey>(maxKnownKeys);
  /** Separate from the known ones, so that guesses can't evict them. */
  readonly #unknown = new LruMap<KeyHash, true>(maxUnknownKeys);
  readonly #wanted = new Set<KeyHash>();
  /** The last key of each connection: a client that reuses both costs one hash. */
  readonly #sent = new WeakMap<object, { readonly text: string; readonly hash: KeyHash | undefined }>();
  #version: KeyVersion | undefined;
  readonly #round = new SharedWork(() => this.#read());
  #triedAt = -Infinity;
  #freshAt = -Infinity;
  /** Because the database can't be reached, or the round takes too long. */
  #isBehind = false;

  constructor(records: KeyRecords, { adminKey, now, onUnreadable }: KeyDirectoryOptions) {
    this.#records = records;
    this.#onUnreadable = onUnreadable;
    this.#now = now;
    this.#admin = adminKey === undefined ? undefined : { length: adminKey.length, hash: hashOf(adminKey) };
  }

  /**
   * The principal of the key; undefined when it is malformed, unknown, revoked or expired. Bans are decided with the
   * quota.
   *
   * Throws UNAVAILABLE for a well-formed key that isn't known yet when the database can't be reached, and for one that
   * this version can't read.
   */
  find(text: string, connection?: object): Principal | undefined | Promise<Principal | undefined> {
    if (this.#isAdmin(text)) return administrator;
    const hash = this.#hashOf(text, connection);
    if (hash === undefined) return undefined;
    // The path of nearly every request.
    const known = this.#isPast(this.#freshAt, refreshAfterMillis) ? undefined : this.#cached(hash);
    return known === undefined ? this.#findAnew(hash) : principalOf(known, hash, this.#now());
  }

  /** The id of a key that is known already, also of one that isn't valid any more. */
  knownIdOf(text: string, connection?: object): string | undefined {
    if (this.#isAdmin(text)) return administrator.id;
    const hash = this.#hashOf(text, connection);
    return hash === undefined ? undefined : this.#ids.get(hash);
  }

  async #findAnew(hash: KeyHash): Promise<Principal | undefined> {
    if (this.#isPast(this.#freshAt, refreshAfterMillis)) await this.#refresh(hash);
    // While this process is behind, an unknown key may be a new one.
    const isUnknown = !this.#isBehind && this.#unknown.get(hash) === true;
    const key = this.#cached(hash) ?? (isUnknown ? undefined : await this.#lookUp(hash));
    return key && principalOf(key, hash, this.#now());
  }

  /**
   * Reads every change that was committed before the call, so that it holds for the next request. Never throws: without
   * the database the change is read when it is back.
   */
  async catchUp(): Promise<void> {
    await this.#round.runAnew().catch(() => undefined);
  }

  #hashOf(text: string, connection: object | undefined): KeyHash | undefined {
    if (connection === undefined) return parseKey(text);
    const last = this.#sent.get(connection);
    if (last?.text === text) return last.hash;
    const hash = parseKey(text);
    this.#sent.set(connection, { text, hash });
    return hash;
  }

  #isAdmin(text: string): boolean {
    return text.length === this.#admin?.length && timingSafeEqual(hashOf(text), this.#admin.hash);
  }

  #cached(hash: KeyHash): KnownKey | undefined {
    const id = this.#ids.get(hash);
    return id === undefined ? undefined : this.#keys.get(id);
  }

  /** Also true after the clock was set back. */
  #isPast(instant: number, millis: number): boolean {
    return Math.abs(this.#now() - instant) >= millis;
  }

  /** Starts a round. Waits for it only when the known state may be too old; callers share the round. */
  async #refresh(hash: KeyHash): Promise<void> {
    const mustWait = !this.#isBehind && this.#isPast(this.#freshAt, staleAfterMillis);
    if (!mustWait && !this.#isPast(this.#triedAt, refreshAfterMillis)) return;
    if (this.#cached(hash) === undefined) this.#wanted.add(hash);
    // A failure shows in `#isBehind`; lookups of a key throw it.
    const hasEnded = this.#round.run().then(
      () => true,
      () => true,
    );
    if (mustWait && (await within(refreshTimeoutMillis, hasEnded)) === undefined) this.#isBehind = true;
  }

  async #lookUp(hash: KeyHash): Promise<KnownKey | undefined> {
    for (;;) {
      this.#wanted.add(hash);
      // The statement under way may have been sent without this hash.
      const { requested, found } = await this.#round.run();
      if (requested.has(hash)) return found.get(hash);
    }
  }

  async #read(): Promise<Round> {
    const startedAt = this.#now();
    this.#triedAt = startedAt;
    // Lookups in the same tick of the event loop share the statement.
    await Promise.resolve();
    const requested = new Set(this.#wanted);
    this.#wanted.clear();
    try {
      const { latest, keys, isComplete } = await this.#records.read([...requested], this.#version);
      if (!isComplete) this.#unknown.clear();
      const found = this.#learn(requested, keys);
      if (!isComplete) await this.#recheckAll();
      this.#version = latest;
      this.#freshAt = startedAt;
      this.#isBehind = false;
      return { requested, found };
    } catch (error) {
      this.#isBehind = true;
      throw error;
    }
  }

  #learn(requested: ReadonlySet<KeyHash>, records: readonly KeyRecord[]): Map<KeyHash, KnownKey> {
    const found = new Map<KeyHash, KnownKey>();
    for (const record of records) {
      const key = this.#known(record);
      const hashes = [record.sha256, record.previousSha256].filter((hash) => hash !== null);
      for (const hash of hashes) {
        this.#unknown.delete(hash);
        if (!requested.has(hash)) continue;
        found.set(hash, key);
        this.#ids.set(hash, record.id);
        this.#keys.set(record.id, key);
      }
      this.#keys.replace(record.id, key);
    }
    for (const hash of requested) if (!found.has(hash)) this.#unknown.set(hash, true);
    return found;
  }

  #known(record: KeyRecord): KnownKey {
    if (record.failure !== undefined) this.#reportOnce(record.failure.cause as Error);
    return knownKeyOf(record, this.#scopes);
  }

  #reportOnce(cause: Error): void {
    if (this.#reported.get(cause.message) === undefined) this.#onUnreadable?.(cause);
    this.#reported.set(cause.message, true);
  }

  /** Reads the known keys again, most recently used first. */
  async #recheckAll(): Promise<void> {
    const ids = [...this.#keys.keys()];
    for (let start = 0; start < ids.length; start += recheckBatchSize) {
      const batch = ids.slice(start, start + recheckBatchSize);
      const records = new Map((await this.#records.readByIds(batch)).map((record) => [record.id, record]));
      for (const id of batch) {
        const record = records.get(id);
        if (record === undefined) this.#keys.delete(id);
        else this.#keys.replace(id, this.#known(record));
      }
    }
  }
}

const administrator: Principal = {
  id: adminId,
  name: 'ADMIN_API_KEY',
  plan: 'business',
  scopes: ['admin'],
  expiresAt: null,
  limits: businessLimits,
  bans: undefined,
  isAnonymous: false,
};

function hashOf(text: string): Buffer {
  return digest('sha256', text, 'buffer');
}

import { hash as digest, timingSafeEqual } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import { BoundedMap } from '../bounded-map.ts';
import { parseKey, type KeyHash } from './api-key.ts';
import type { KeyRecord, KeyRecords, KeyVersion } from './api-key.reads.ts';
import { businessLimits, limitsOf } from './plan.ts';
import type { Principal } from './principal.ts';

export interface KeyDirectoryOptions {
  readonly adminKey?: string | undefined;
  readonly now?: (() => number) | undefined;
}

/** Together less than a second, which is how soon a change has to hold. */
const refreshAfterMillis = 400;
const staleAfterMillis = 900;
/** How long a request waits for news of a key that is known; then the database counts as gone. */
const patienceMillis = 400;

const maxKnownKeys = 50_000;
const maxUnknownKeys = 10_000;

interface Entry {
  readonly principal: Principal;
  /** In milliseconds since 1970. A revoked key is over since always. */
  readonly goodUntil: number;
}

interface AdminKey {
  readonly length: number;
  readonly hash: Buffer;
}

interface Round {
  readonly asked: ReadonlySet<KeyHash>;
  readonly found: ReadonlyMap<KeyHash, Entry>;
}

/**
 * Knows the keys that are in use, so that a request costs no look-up.
 *
 * While there are requests, one statement every 400 ms brings what has changed; there is no other statement under way beside it, so that
 * an older state never overwrites a newer one, and wrong keys, however many, never occupy more than one connection. An idle process
 * asks nothing. When the database is gone, keys that are known stay good.
 */
export class KeyDirectory {
  readonly #records: KeyRecords;
  readonly #now: () => number;
  readonly #admin: AdminKey | undefined;
  readonly #known = new BoundedMap<KeyHash, Entry>(maxKnownKeys);
  /** Apart from the known ones, so that guesses can't push them out. */
  readonly #unknown = new BoundedMap<KeyHash, true>(maxUnknownKeys);
  readonly #wanted = new Set<KeyHash>();
  /** What was sent last over each connection, which mostly is sent over it again: one key costs one hash. */
  readonly #sent = new WeakMap<object, { readonly text: string; readonly hash: KeyHash | undefined }>();
  #version: KeyVersion | undefined;
  #round: Promise<Round> | undefined;
  #triedAt = -Infinity;
  #freshAt = -Infinity;
  #isDatabaseGone = false;

  constructor(records: KeyRecords, { adminKey, now = Date.now }: KeyDirectoryOptions = {}) {
    this.#records = records;
    this.#now = now;
    this.#admin = adminKey === undefined ? undefined : { length: adminKey.length, hash: hashOf(adminKey) };
  }

  /**
   * Who holds the key, which may have come over a connection; undefined when it is malformed, unknown, revoked or expired. Whether it is banned
   * is decided with its quota.
   *
   * Throws UNAVAILABLE for a well-formed key that isn't known yet when the database can't be reached.
   */
  async find(text: string, connection?: object): Promise<Principal | undefined> {
    if (this.#isAdmin(text)) return administrator;
    const hash = this.#hashOf(text, connection);
    if (hash === undefined) return undefined;
    if (this.#isPast(this.#freshAt, refreshAfterMillis)) await this.#refresh(hash);
    // Without the database nobody can tell whether an unknown key is still unknown.
    const isUnknown = !this.#isDatabaseGone && this.#unknown.get(hash) === true;
    const entry = this.#known.get(hash) ?? (isUnknown ? undefined : await this.#lookUp(hash));
    return entry !== undefined && this.#now() < entry.goodUntil ? entry.principal : undefined;
  }

  /**
   * Learns of every change that was written down before the call, so that it holds for the next request. Never throws: without the
   * database the change is learnt of when it is back.
   */
  async catchUp(): Promise<void> {
    // The statement that is under way may have been sent before the change.
    await this.#round?.catch(() => undefined);
    await this.#ask().catch(() => undefined);
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

  /** A clock that is set back counts as well, so that nothing waits until it has caught up. */
  #isPast(instant: number, millis: number): boolean {
    return Math.abs(this.#now() - instant) >= millis;
  }

  /** Asks for changes; waits for them, with all who come meanwhile, only when what is known may be too old. */
  async #refresh(hash: KeyHash): Promise<void> {
    const mustWait = !this.#isDatabaseGone && this.#isPast(this.#freshAt, staleAfterMillis);
    if (!mustWait && !this.#isPast(this.#triedAt, refreshAfterMillis)) return;
    if (!this.#known.has(hash)) this.#wanted.add(hash);
    // A failure is told by `#isDatabaseGone`, and to those who look up a key.
    const round = this.#ask().catch(() => undefined);
    if (!mustWait) return;
    const giveUp = new AbortController();
    const patience = wait(patienceMillis, true, { ref: false, signal: giveUp.signal }).catch(() => false);
    if ((await Promise.race([round, patience])) === true) this.#isDatabaseGone = true;
    giveUp.abort();
  }

  async #lookUp(hash: KeyHash): Promise<Entry | undefined> {
    for (;;) {
      this.#wanted.add(hash);
      // The statement that is under way may have been sent without this hash.
      const { asked, found } = await this.#ask();
      if (asked.has(hash)) return found.get(hash);
    }
  }

  #ask(): Promise<Round> {
    this.#round ??= this.#read().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #read(): Promise<Round> {
    const startedAt = this.#now();
    this.#triedAt = startedAt;
    // Those who ask in the same turn of the event loop share the statement.
    await Promise.resolve();
    const asked = new Set(this.#wanted);
    this.#wanted.clear();
    try {
      const { latest, keys } = await this.#records.read([...asked], this.#version);
      this.#version = latest;
      this.#freshAt = startedAt;
      this.#isDatabaseGone = false;
      return { asked, found: this.#learn(asked, keys) };
    } catch (error) {
      this.#isDatabaseGone = true;
      throw error;
    }
  }

  #learn(asked: ReadonlySet<KeyHash>, keys: readonly KeyRecord[]): Map<KeyHash, Entry> {
    const found = new Map(keys.map((key) => [key.sha256, entryOf(key)]));
    for (const [hash, entry] of found) {
      this.#unknown.delete(hash);
      if (asked.has(hash) || this.#known.has(hash)) this.#known.set(hash, entry);
    }
    for (const hash of asked) if (!found.has(hash)) this.#unknown.set(hash, true);
    return found;
  }
}

const administrator: Principal = {
  id: 'admin',
  name: 'ADMIN_API_KEY',
  plan: 'business',
  scopes: ['admin'],
  subject: { id: 'admin', limits: businessLimits, bans: undefined, isAnonymous: false },
};

function hashOf(text: string): Buffer {
  return digest('sha256', text, 'buffer');
}

function entryOf(key: KeyRecord): Entry {
  const { id, name, plan, scopes, bans } = key;
  const subject = { id, limits: limitsOf(key), bans, isAnonymous: false };
  const goodUntil = key.revokedAt === null ? (key.expiresAt ?? Infinity) : -Infinity;
  return { principal: { id, name, plan, scopes, subject }, goodUntil };
}

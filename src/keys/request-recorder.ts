import { randomUUID } from 'node:crypto';

import { isUnavailable } from '../domain/errors.ts';
import type { Id } from '../domain/id.ts';
import type { KeyRequest, QuotaWindow } from '../domain/requests/key-request.entity.ts';
import { maxEntries, unused } from '../domain/requests/request.service.ts';
import type {
  DeprecatedCoordinate,
  DeprecatedUses,
  HourOfUse,
  RequestBatch,
  RequestStore,
} from '../domain/requests/request.store.ts';
import type { RowData } from '../domain/store.ts';
import { every, SharedWork } from '../platform/background.ts';

const hourMillis = 3_600_000;
const dayMillis = 24 * hourMillis;
const saveEveryMillis = 1_000;
const trimEveryMillis = 60_000;
/** Of a process in a second, and of these the refusals of one key. */
const maxEntriesASecond = 200;
const maxRefusalsASecond = 10;
const maxWaitingEntries = 1_000;
/** The keys that a process knows; those of one statement. */
const maxKeys = 50_000;
const keysPerBatch = 1_000;

/** A request that has had its response, as it is counted. */
export interface ServedRequest {
  readonly keyId: Id;
  readonly status: number;
  readonly cost: number;
  readonly refusedBy: QuotaWindow | 'ban' | undefined;
  readonly isWrite: boolean;
  readonly deprecated: readonly DeprecatedCoordinate[];
}

export type Entry = Omit<RowData<KeyRequest>, 'at'>;

type Figures = { -readonly [Name in keyof HourOfUse]: HourOfUse[Name] };

export interface RequestRecorderOptions {
  readonly requests: RequestStore;
  /** False keeps the counts only. */
  readonly keepsEntries: boolean;
  /** The database's time. */
  readonly now: () => number;
  /** Called once while requests can't be saved. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Counts the requests of each key by the hour, and keeps entries of them: of each refusal, failure and write, and of the
 * others one a second for each key.
 *
 * Saves once a second what has come since; no statement while there is none. A batch whose response was lost is sent again
 * under its number, and counts once. While the database can't be reached the counts wait, and at most 1,000 entries.
 */
export class RequestRecorder {
  readonly #options: RequestRecorderOptions;
  readonly #writer = randomUUID();
  /** By the hour's start, then by key. */
  #hours = new Map<number, Map<Id, Figures>>();
  #keys = 0;
  readonly #uses = new Map<string, DeprecatedUses>();
  #entries: RowData<KeyRequest>[] = [];
  readonly #second = { number: 0, entries: 0, refusals: new Map<Id, number>(), others: new Set<Id>() };
  /** Keys that have had entries since the last round that trims. */
  #untrimmed = new Set<Id>();
  /** Sent, perhaps saved. */
  #batch: RequestBatch | undefined;
  #lastNumber = 0;
  readonly #saving = new SharedWork(() => this.#save());
  #timers: readonly NodeJS.Timeout[] = [];
  #isFailing = false;

  constructor(options: RequestRecorderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timers = [every(saveEveryMillis, () => this.flush()), every(trimEveryMillis, () => this.#trim())];
  }

  /** Saves what is left. Call it after the last request, while the database is open. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    do await this.#saving.runAnew();
    while (this.#entries.length > 0 && !this.#isFailing);
  }

  /** Counts the request; the entry is made only if it is kept. */
  record(served: ServedRequest, entryOf: () => Entry): void {
    const now = this.#options.now();
    const figures = this.#figuresOf(served.keyId, now);
    if (figures === undefined) return;
    count(figures, served);
    for (const each of served.deprecated) this.#countUse(served.keyId, each, now);
    if (this.#isKept(served, now)) this.#entries.push({ ...entryOf(), at: new Date(now) });
    else figures.omitted += 1;
  }

  /** Never throws. */
  flush(): Promise<void> {
    return this.#saving.run();
  }

  #figuresOf(keyId: Id, now: number): Figures | undefined {
    const startsAt = Math.floor(now / hourMillis) * hourMillis;
    const ofHour = this.#hours.get(startsAt) ?? new Map<Id, Figures>();
    this.#hours.set(startsAt, ofHour);
    let figures = ofHour.get(keyId);
    if (figures === undefined && this.#keys < maxKeys) {
      figures = { keyId, startsAt, ...unused };
      ofHour.set(keyId, figures);
      this.#keys += 1;
    }
    return figures;
  }

  #countUse(keyId: Id, { coordinate, sunset }: DeprecatedCoordinate, now: number): void {
    const key = `${keyId} ${Math.floor(now / dayMillis)} ${coordinate}`;
    const known = this.#uses.get(key);
    if (known === undefined && this.#uses.size >= maxKeys) return;
    this.#uses.set(key, { keyId, coordinate, sunset, count: (known?.count ?? 0) + 1, lastUsedAt: new Date(now) });
  }

  #isKept({ keyId, status, refusedBy, isWrite }: ServedRequest, now: number): boolean {
    if (!this.#options.keepsEntries) return false;
    const second = this.#second;
    const number = Math.floor(now / 1_000);
    if (number !== second.number) {
      Object.assign(second, { number, entries: 0 });
      second.refusals.clear();
      second.others.clear();
    }
    if (second.entries >= maxEntriesASecond || this.#entries.length >= maxWaitingEntries) return false;
    const isRefused = refusedBy !== undefined || (!isWrite && status >= 400 && status < 500);
    if (isRefused) {
      const refusals = (second.refusals.get(keyId) ?? 0) + 1;
      second.refusals.set(keyId, refusals);
      if (refusals > maxRefusalsASecond) return false;
    } else if (!isWrite && status < 500) {
      if (second.others.has(keyId)) return false;
      second.others.add(keyId);
    }
    second.entries += 1;
    return true;
  }

  async #save(): Promise<void> {
    const { requests, onFailure } = this.#options;
    let room = maxEntriesASecond;
    for (this.#batch ??= this.#nextBatch(room); this.#batch !== undefined; this.#batch = this.#nextBatch(room)) {
      room -= this.#batch.entries.length;
      try {
        await requests.save(this.#writer, this.#batch);
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) onFailure(error);
        this.#isFailing = true;
        // What the database refuses it would refuse again.
        if (isUnavailable(error)) return;
      }
    }
  }

  #nextBatch(maxEntriesOfBatch: number): RequestBatch | undefined {
    const hours: HourOfUse[] = [];
    for (const [startsAt, ofHour] of this.#hours) {
      for (const [keyId, figures] of ofHour) {
        if (hours.length === keysPerBatch) break;
        hours.push(figures);
        ofHour.delete(keyId);
      }
      if (ofHour.size === 0) this.#hours.delete(startsAt);
    }
    this.#keys -= hours.length;
    const entries = this.#entries.splice(0, maxEntriesOfBatch);
    const uses: DeprecatedUses[] = [];
    for (const [key, use] of this.#uses) {
      if (uses.length === keysPerBatch) break;
      uses.push(use);
      this.#uses.delete(key);
    }
    if (hours.length === 0 && entries.length === 0 && uses.length === 0) return undefined;
    for (const { keyId } of entries) this.#untrimmed.add(keyId);
    this.#lastNumber += 1;
    return { number: this.#lastNumber, hours, uses, entries };
  }

  async #trim(): Promise<void> {
    const keyIds = [...this.#untrimmed];
    if (keyIds.length === 0) return;
    this.#untrimmed = new Set();
    await this.#options.requests.trim(keyIds, maxEntries).catch(() => {
      for (const keyId of keyIds) this.#untrimmed.add(keyId);
    });
  }
}

function count(figures: Figures, { status, cost, refusedBy, isWrite, deprecated }: ServedRequest): void {
  figures.requests += 1;
  figures.cost += cost;
  figures.deprecatedUses += deprecated.length;
  if (isWrite) figures.writes += 1;
  if (refusedBy === 'ban') figures.refusedByBan += 1;
  else if (refusedBy !== undefined) figures.refusedByQuota += 1;
  else if (status >= 500) figures.serverErrors += 1;
  else if (status >= 400) figures.clientErrors += 1;
}

import { inBackground, SharedWork } from '../platform/background.ts';
import { isUnavailable } from '../domain/errors.ts';
import type { AutomaticBan, QuotaSubject } from '../platform/quotas/index.ts';
import type { AccessService } from '../domain/access/access.service.ts';

const retryMillis = 1_000;

export interface BanRecorderOptions {
  readonly access: Pick<AccessService, 'recordAutomaticBan'>;
  /** Called for each ban. Must not throw. */
  readonly onBan: (subject: QuotaSubject, ban: AutomaticBan) => void;
  /** Called when a ban couldn't be saved, which is tried again while the database is unavailable. Must not throw. */
  readonly onSaveFailure: (error: unknown) => void;
}

/** Also those that begin while the database can't be reached: until then they hold in the counter store. */
export class BanRecorder {
  readonly #options: BanRecorderOptions;
  /** By the key's id: the latest ban that isn't saved yet. */
  readonly #pending = new Map<string, AutomaticBan>();
  readonly #writing = new SharedWork(() => this.#write());
  #retry: NodeJS.Timeout | undefined;
  /** A lost database is reported once. */
  #isFailing = false;

  constructor(options: BanRecorderOptions) {
    this.#options = options;
  }

  record(subject: QuotaSubject, ban: AutomaticBan): void {
    this.#options.onBan(subject, ban);
    this.#pending.set(subject.id, ban);
    inBackground(this.flush());
  }

  /** Tries to save what is pending; call it before the database is closed. Never throws. */
  flush(): Promise<void> {
    clearTimeout(this.#retry);
    return this.#writing.run();
  }

  /** Saves the ban of one key, unless it is saved. Never throws. */
  async save(id: string): Promise<void> {
    const ban = this.#pending.get(id);
    if (ban !== undefined) await this.#save(id, ban);
  }

  async #write(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (await this.#save(...next)) continue;
      this.#retry = setTimeout(() => inBackground(this.flush()), retryMillis).unref();
      return;
    }
  }

  /** False while the database is unavailable: then the ban stays pending. */
  async #save(id: string, ban: AutomaticBan): Promise<boolean> {
    const { access, onSaveFailure } = this.#options;
    try {
      await access.recordAutomaticBan(id, ban);
      this.#isFailing = false;
    } catch (error) {
      const isOutage = isUnavailable(error);
      if (!isOutage || !this.#isFailing) onSaveFailure(error);
      if (isOutage) {
        this.#isFailing = true;
        return false;
      }
    }
    if (this.#pending.get(id) === ban) this.#pending.delete(id);
    return true;
  }

  #next(): [string, AutomaticBan] | undefined {
    return this.#pending.entries().next().value;
  }
}

import { inBackground } from '../platform/background.ts';
import { isUnavailable } from '../domain/errors.ts';
import type { AutomaticBan } from '../platform/quotas/index.ts';
import type { AccessService } from '../domain/access/access.service.ts';

const retryMillis = 1_000;

/**
 * Saves automatic bans, also those that begin while the database can't be reached.
 *
 * Until then they hold in the counter store.
 */
export class BanRecorder {
  readonly #access: Pick<AccessService, 'recordAutomaticBan'>;
  readonly #onFailure: (error: unknown) => void;
  /** By the key's id: the latest ban that isn't saved yet. */
  readonly #pending = new Map<string, AutomaticBan>();
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** A lost database is reported once. */
  #isFailing = false;

  constructor(access: Pick<AccessService, 'recordAutomaticBan'>, onFailure: (error: unknown) => void) {
    this.#access = access;
    this.#onFailure = onFailure;
  }

  record(id: string, ban: AutomaticBan): void {
    this.#pending.set(id, ban);
    inBackground(this.flush());
  }

  /** Tries to save what is pending. Never throws. */
  flush(): Promise<void> {
    clearTimeout(this.#retry);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [id, ban] = next;
      try {
        await this.#access.recordAutomaticBan(id, ban);
        this.#isFailing = false;
      } catch (error) {
        if (!isUnavailable(error) || !this.#isFailing) this.#onFailure(error);
        if (isUnavailable(error)) {
          this.#isFailing = true;
          this.#retry = setTimeout(() => inBackground(this.flush()), retryMillis).unref();
          return;
        }
      }
      if (this.#pending.get(id) === ban) this.#pending.delete(id);
    }
  }

  #next(): [string, AutomaticBan] | undefined {
    return this.#pending.entries().next().value;
  }
}

import { DomainError } from '../domain/errors.ts';
import { isDiskFull } from '../postgres/driver-errors.ts';

/**
 * Sorts more than fits into its memory, so that PostgreSQL writes a temporary file; the setting ends with the
 * statement's transaction.
 */
export const diskProbe =
  `select set_config('work_mem', '64kB', true); ` +
  'select count(*) from (select n from generate_series(1, 8000) as n order by n desc) as sorted';

/** The timeout of the probe, which may have to wait for a connection. */
const probeWaitMillis = 500;

/**
 * Whether the disk of the database has free space.
 *
 * A full disk accepts small writes for a while, where a page has space, and refuses others. So a refused write is
 * remembered until a probe has written a file, and the probe is repeated with each check.
 */
export class DiskCheck {
  readonly #probe: () => Promise<unknown>;
  #isFull = false;
  #running: Promise<void> | undefined;

  /** The probe rejects as the driver does. */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  /** Records the error of a failed statement. */
  record(error: unknown): void {
    if (isDiskFull(error)) this.#isFull = true;
  }

  /** Throws UNAVAILABLE while the disk is full. */
  async assertRoom(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    let timeout: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timeout = setTimeout(resolve, probeWaitMillis);
    });
    await Promise.race([this.#running, tooLate]).finally(() => clearTimeout(timeout));
    if (this.#isFull)
      throw new DomainError('UNAVAILABLE', 'The disk of the database is full.', { retryAfterSeconds: 5 });
  }

  /** Only errors of the disk count, not those of the connection. */
  async #run(): Promise<void> {
    try {
      await this.#probe();
      this.#isFull = false;
    } catch (error) {
      this.record(error);
    }
  }
}

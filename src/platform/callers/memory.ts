import type { Caller } from './caller.ts';
import type { Lease, Share, ShareLimit } from './share.ts';

/** An estimate of what a request takes beside its body, its variables and its result. */
export const requestBytes = 16 * 1024;

/**
 * The memory of one request or stream, in the account of its client: one lease, which is resized along its way.
 *
 * 1. its body, from the first byte (`tryHold`)
 * 2. what is kept of that, parsed (`holdParsed`)
 * 3. the estimate of its result, before it is executed (`reserve`)
 * 4. the result (`hold`)
 * 5. what its client hasn't read of that (`hold`, by its connection)
 *
 * Memory that is taken already is held whatever the limits say; memory that is going to be taken is waited for, or
 * refused.
 */
export class RequestMemory {
  readonly #memory: Share;
  readonly #caller: Caller;
  readonly #lease: Lease;
  #kept = 0;
  #held = 0;

  /** `memory` is that of the process, in bytes. */
  constructor(memory: Share, caller: Caller) {
    this.#memory = memory;
    this.#caller = caller;
    this.#lease = memory.hold(caller, 0);
  }

  get bytes(): number {
    return this.#kept + this.#held;
  }

  /** The request holds so much now, beside what it keeps. */
  hold(bytes: number): void {
    this.#held = bytes;
    this.#lease.resize(this.bytes);
  }

  /** The request holds so much now, or more already. */
  holdAtLeast(bytes: number): void {
    if (bytes > this.#held) this.hold(bytes);
  }

  /** The request holds the bytes that a value takes, and so many beside. */
  holdParsed(value: unknown, bytes = 0): void {
    this.hold(requestBytes + sizeOf(value) + bytes);
  }

  /** So much of what it holds it keeps until its end, whatever else it holds. */
  keep(bytes: number): void {
    this.#kept = bytes;
    this.hold(Math.max(0, this.#held - bytes));
  }

  /** The request holds so much now, unless that is beyond a limit, which is returned then. */
  tryHold(bytes: number): ShareLimit | undefined {
    const limit = this.#limitFor(bytes - this.#held);
    if (limit === undefined) this.hold(bytes);
    return limit;
  }

  /**
   * The request keeps so much from now on, beside what it holds; returns false, and keeps what it did, if its client
   * may not.
   */
  tryKeep(bytes: number): boolean {
    if (this.#limitFor(bytes - this.#kept) !== undefined) return false;
    this.#kept = bytes;
    this.hold(this.#held);
    return true;
  }

  /**
   * The request holds so much more, at most what a client may hold: so one request is always possible. Returns
   * undefined when it needn't wait for that; rejects with the share's refusal after a while, or with the reason of the
   * signal.
   */
  reserve(bytes: number): Promise<void> | undefined {
    const more = Math.max(0, Math.min(bytes, this.#memory.mostOf(this.#caller) - this.bytes));
    if (this.#memory.isFree(this.#caller, more)) {
      this.hold(this.#held + more);
      return undefined;
    }
    return this.#memory.take(this.#caller, more).then((lease) => {
      this.hold(this.#held + more);
      // Only now: what becomes free is given to others at once.
      lease.release();
    });
  }

  /** The request has ended: what it holds later isn't counted. May be called more than once. */
  release(): void {
    this.#lease.release();
  }

  #limitFor(more: number): ShareLimit | undefined {
    return more > 0 ? this.#memory.limitFor(this.#caller, more) : undefined;
  }
}

const objectBytes = 56;
const memberBytes = 24;

/** An estimate of what a value of JSON takes. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string')
    return memberBytes + (Buffer.byteLength(value) === value.length ? 1 : 2) * value.length;
  if (typeof value !== 'object' || value === null) return memberBytes;
  let bytes = objectBytes;
  for (const each of Object.values(value) as unknown[]) bytes += memberBytes + sizeOf(each);
  return bytes;
}

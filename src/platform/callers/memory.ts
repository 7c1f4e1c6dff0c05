import type { Accounts } from './accounts.ts';
import type { Caller } from './caller.ts';
import { Share, type Lease, type Refusal } from './share.ts';

export interface MemoryOptions {
  /** Bytes of one client. */
  readonly ofClient: number;
  /** Bytes of all. */
  readonly ofAll: number;
  readonly waitMillis: number;
  /** The error for who has waited in vain. */
  readonly refuse: (refusal: Refusal) => Error;
}

/** Whose memory it is, and what ends its waits. */
type Owner = Pick<Caller, 'id'> & Partial<Pick<Caller, 'signal'>>;

/** The memory of the process for what clients send, ask for and haven't read yet. */
export class Memory {
  readonly options: MemoryOptions;
  readonly share: Share;

  constructor(accounts: Accounts, options: MemoryOptions) {
    this.options = options;
    this.share = new Share(accounts, options);
  }

  /** Whether more is held than there is: what is known already is never refused. */
  get isOverdrawn(): boolean {
    return this.share.held > this.options.ofAll;
  }

  /** Begins a request or a stream. */
  open(caller: Owner): RequestMemory {
    return new RequestMemory(this, caller);
  }
}

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
 * What it is, is held whatever the limits say; what it is going to be is waited for, or refused.
 */
export class RequestMemory {
  readonly #memory: Memory;
  readonly #owner: Owner;
  readonly #lease: Lease;
  #kept = 0;
  #held = 0;
  #isReleased = false;

  constructor(memory: Memory, owner: Owner) {
    this.#memory = memory;
    this.#owner = owner;
    this.#lease = memory.share.hold(owner, 0);
  }

  get bytes(): number {
    return this.#kept + this.#held;
  }

  /** It holds so much now, beside what it keeps. */
  hold(bytes: number): void {
    this.#held = bytes;
    this.#lease.resize(this.bytes);
  }

  /** It holds what a value takes, and so much beside. */
  holdParsed(value: unknown, bytes = 0): void {
    this.hold(requestBytes + sizeOf(value) + bytes);
  }

  /** So much of what it holds it keeps until its end, whatever else it holds. */
  keep(bytes: number): void {
    this.#kept = bytes;
    this.hold(Math.max(0, this.#held - bytes));
  }

  /** It holds so much now, unless its client may not: then the reason is returned. */
  tryHold(bytes: number): Refusal | undefined {
    const refusal = this.#refusalOf(bytes - this.#held);
    if (refusal === undefined) this.hold(bytes);
    return refusal;
  }

  /** It keeps so much from now on, beside what it holds; returns false, and keeps what it did, if its client may not. */
  tryKeep(bytes: number): boolean {
    if (this.#refusalOf(bytes - this.#kept) !== undefined) return false;
    this.#kept = bytes;
    this.hold(this.#held);
    return true;
  }

  /**
   * It holds so much more, at most what a client may hold: so one request is always possible. Returns undefined when it
   * needn't wait for that; rejects with UNAVAILABLE after a while, or with the reason of the signal.
   */
  reserve(bytes: number): Promise<void> | undefined {
    const { share, options } = this.#memory;
    const more = Math.max(0, Math.min(bytes, options.ofClient - this.bytes, options.ofAll - this.bytes));
    const lease = share.tryTake(this.#owner, more);
    if (lease === undefined) return this.#wait(more);
    this.#add(more, lease);
    return undefined;
  }

  /** It has ended. May be called more than once. */
  release(): void {
    this.#isReleased = true;
    this.#lease.release();
  }

  #refusalOf(more: number): Refusal | undefined {
    return more > 0 ? this.#memory.share.refusalOf(this.#owner, more) : undefined;
  }

  async #wait(bytes: number): Promise<void> {
    this.#add(bytes, await this.#memory.share.take(this.#owner, bytes));
  }

  #add(bytes: number, lease: Lease): void {
    if (!this.#isReleased) this.hold(this.#held + bytes);
    // Only now: what becomes free is given to others at once.
    lease.release();
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

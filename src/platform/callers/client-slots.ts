import type { Caller } from './caller.ts';
import type { Share } from './share.ts';

/** Counts what clients hold in several processes together. Rejects when that can't be known. */
export interface SlotCounter {
  /** Takes one more for the client; or returns how many it holds, where that is the most. */
  take(of: string, clientId: string, most: number): Promise<number | undefined>;
  release(of: string, clientId: string): void;
}

/** A slot that is taken, until `release`, which may be called more than once. */
export interface Slot {
  release(): void;
}

/** Of which a client may hold only so many: in this process, or in all that count together. */
export class ClientSlots {
  readonly #share: Share;
  readonly #name: string;
  readonly #everywhere: SlotCounter | undefined;

  /** `share` says how many all clients may hold in this process, and has the refusal. */
  constructor(share: Share, name: string, everywhere?: SlotCounter) {
    this.#share = share;
    this.#name = name;
    this.#everywhere = everywhere;
  }

  /** How many are held in this process. */
  get held(): number {
    return this.#share.held;
  }

  /** Takes one for a client that may hold so many; throws the refusal. */
  async take(caller: Pick<Caller, 'id'>, most: number): Promise<Slot> {
    const here = this.#share.heldBy(caller);
    if (here >= most) throw this.#share.refusalOf('client', here);
    const lease = this.#share.takeNow(caller);
    const everywhere = this.#everywhere;
    if (everywhere === undefined) return lease;
    try {
      const held = await everywhere.take(this.#name, caller.id, most);
      if (held !== undefined) throw this.#share.refusalOf('client', held);
    } catch (error) {
      lease.release();
      throw error;
    }
    let isReleased = false;
    return {
      release: () => {
        if (isReleased) return;
        isReleased = true;
        lease.release();
        everywhere.release(this.#name, caller.id);
      },
    };
  }
}

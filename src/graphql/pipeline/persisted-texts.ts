import { type Accounts, type Caller, type Lease, Share } from '../../platform/callers/index.ts';

const maxBytes = 8 * 1024 * 1024;
/** A shorter text counts as many, for what an entry takes beside it. */
const minEntryBytes = 512;

interface StoredText {
  readonly text: string;
  /** The id of the client that has sent it. */
  readonly id: string;
  readonly lease: Lease;
}

/**
 * The texts of automatic persisted queries by their SHA-256, in this process only.
 *
 * A text counts for the client that has sent it. Where it doesn't fit, texts are evicted, the least recently used first:
 * the sender's own while it holds more than clients do on average, otherwise those of clients that do.
 */
export class PersistedTexts {
  /** In the order of use. */
  readonly #texts = new Map<string, StoredText>();
  readonly #bytes: Share;

  constructor(accounts: Accounts) {
    this.#bytes = new Share(accounts, {
      ofClient: Infinity,
      ofAll: maxBytes,
      refuse: () => new Error('There is no space for another text.'),
    });
  }

  get(sha256: string): string | undefined {
    const entry = this.#texts.get(sha256);
    if (entry === undefined) return undefined;
    this.#texts.delete(sha256);
    this.#texts.set(sha256, entry);
    return entry.text;
  }

  set(sha256: string, text: string, sender: Pick<Caller, 'id'>): void {
    if (this.#texts.has(sha256)) return;
    const bytes = Math.max(Buffer.byteLength(text), minEntryBytes);
    let lease = this.#bytes.tryTake(sender, bytes);
    while (lease === undefined) {
      this.#evictFor(sender, bytes);
      lease = this.#bytes.tryTake(sender, bytes);
    }
    this.#texts.set(sha256, { text, id: sender.id, lease });
  }

  #evictFor(sender: Pick<Caller, 'id'>, bytes: number): void {
    const mean = this.#bytes.held / this.#bytes.clients;
    const heldBySender = this.#bytes.heldBy(sender);
    const isOwn = heldBySender > 0 && heldBySender + bytes > mean;
    for (const [sha256, stored] of this.#texts) {
      if (isOwn ? stored.id !== sender.id : this.#bytes.heldBy(stored) < mean) continue;
      this.#texts.delete(sha256);
      return stored.lease.release();
    }
    throw new TypeError('Some client holds the mean.');
  }
}

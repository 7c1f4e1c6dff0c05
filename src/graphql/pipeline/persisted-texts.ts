import { type Accounts, type Lease, Share } from '../../platform/callers/index.ts';

const maxBytes = 8 * 1024 * 1024;
/** A shorter text counts as many, for what an entry takes beside it. */
const minEntryBytes = 512;

interface StoredText {
  readonly text: string;
  readonly client: string;
  readonly lease: Lease;
}

/**
 * The texts of automatic persisted queries by their SHA-256, in this process only.
 *
 * The client that has sent a text holds it. While there is too little space, the least recently used text is evicted of
 * a client that holds at least as much as they do on the average: of the sender, if it does, before others.
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

  set(sha256: string, text: string, client: string): void {
    if (this.#texts.has(sha256)) return;
    const bytes = Math.max(Buffer.byteLength(text), minEntryBytes);
    let lease = this.#bytes.tryTake(client, bytes);
    while (lease === undefined) {
      this.#evictFor(client, bytes);
      lease = this.#bytes.tryTake(client, bytes);
    }
    this.#texts.set(sha256, { text, client, lease });
  }

  #evictFor(sender: string, bytes: number): void {
    const mean = this.#bytes.held / this.#bytes.holders;
    const heldBySender = this.#bytes.heldBy(sender);
    const isOwn = heldBySender > 0 && heldBySender + bytes > mean;
    for (const [sha256, { client, lease }] of this.#texts) {
      if (isOwn ? client !== sender : this.#bytes.heldBy(client) < mean) continue;
      this.#texts.delete(sha256);
      return lease.release();
    }
    throw new TypeError('Some client holds the mean.');
  }
}

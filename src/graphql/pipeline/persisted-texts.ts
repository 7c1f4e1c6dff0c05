/** Longer texts are not stored. */
const maxTextBytes = 64 * 1024;
const maxBytes = 8 * 1024 * 1024;
/** A shorter text counts as many, for what an entry takes beside it. */
const minEntryBytes = 512;

interface Entry {
  readonly text: string;
  readonly bytes: number;
  readonly client: string;
}

/** Those of one client, in the order of use. */
interface Share {
  readonly hashes: Set<string>;
  bytes: number;
}

/**
 * The texts of automatic persisted queries by their SHA-256, in this process only.
 *
 * The client that has sent a text holds it. While there is too much, the client that holds the most loses the least
 * recently used of theirs: a client with more than its share evicts its own.
 */
export class PersistedTexts {
  readonly #texts = new Map<string, Entry>();
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  get(sha256: string): string | undefined {
    const entry = this.#texts.get(sha256);
    if (entry === undefined) return undefined;
    const hashes = this.#shares.get(entry.client)?.hashes;
    hashes?.delete(sha256);
    hashes?.add(sha256);
    return entry.text;
  }

  set(sha256: string, text: string, client: string): void {
    const textBytes = Buffer.byteLength(text);
    if (textBytes > maxTextBytes || this.#texts.has(sha256)) return;
    const bytes = Math.max(textBytes, minEntryBytes);
    this.#texts.set(sha256, { text, bytes, client });
    const share = this.#shares.get(client) ?? { hashes: new Set(), bytes: 0 };
    this.#shares.set(client, share);
    share.hashes.add(sha256);
    share.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > maxBytes) this.#evictFrom(this.#largest(share));
  }

  /** The share that is the largest; of equal ones, the given one. */
  #largest(given: Share): Share {
    let largest = given;
    for (const share of this.#shares.values()) if (share.bytes > largest.bytes) largest = share;
    return largest;
  }

  #evictFrom(share: Share): void {
    const [oldest] = share.hashes;
    const entry = oldest === undefined ? undefined : this.#texts.get(oldest);
    if (oldest === undefined || entry === undefined) throw new TypeError('A share without texts is not the largest.');
    this.#texts.delete(oldest);
    share.hashes.delete(oldest);
    share.bytes -= entry.bytes;
    this.#bytes -= entry.bytes;
    if (share.hashes.size === 0) this.#shares.delete(entry.client);
  }
}

/** Longer texts are not stored. */
const maxTextBytes = 64 * 1024;
const maxBytes = 8 * 1024 * 1024;

/** The texts of automatic persisted queries by their SHA-256, in this process only. The least recently used are evicted first. */
export class PersistedTexts {
  /** In the order of use. */
  readonly #texts = new Map<string, { readonly text: string; readonly bytes: number }>();
  #bytes = 0;

  get(sha256: string): string | undefined {
    const entry = this.#texts.get(sha256);
    if (entry === undefined) return undefined;
    this.#texts.delete(sha256);
    this.#texts.set(sha256, entry);
    return entry.text;
  }

  set(sha256: string, text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > maxTextBytes || this.#texts.has(sha256)) return;
    this.#texts.set(sha256, { text, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#texts) {
      if (this.#bytes <= maxBytes) return;
      this.#texts.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}

/** A text that is longer becomes bytes. From twice its size on V8 gives a text memory of its own. */
const maxTextLength = 32 * 1024;

/** More bytes than a response, or the payload of a mutation, may have. */
export class ResultTooLarge extends Error {}

/** JSON text: the chunks that have become bytes, and the text after them. */
export interface JsonText {
  readonly chunks: readonly Buffer[];
  readonly text: string;
}

export function bytesOf({ chunks, text }: JsonText): number {
  return chunks.reduce((sum, { length }) => sum + length, Buffer.byteLength(text));
}

/**
 * Where the text of a response goes while it is written: what is written last is handed from writer to writer as a
 * string, and becomes a chunk here when it is long. A writer that goes back to its earlier text truncates the chunks.
 */
export class Sink {
  readonly maxBytes: number;
  /** The number of chunks. */
  chunkCount = 0;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** The text that is left, which is none when it was long. Throws ResultTooLarge. */
  flushed(text: string): string {
    if (text.length <= maxTextLength) return text;
    const chunk = Buffer.from(text);
    this.chunkCount = this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.maxBytes) throw new ResultTooLarge();
    return '';
  }

  /** Discards the chunks after the first ones. */
  truncate(count: number): void {
    if (count === this.chunkCount) return;
    for (const { length } of this.#chunks.splice(count)) this.#bytes -= length;
    this.chunkCount = count;
  }

  /** Throws ResultTooLarge unless there is room for the text, of which a code unit has at most three bytes. */
  assertRoom(text: string): void {
    const room = this.maxBytes - this.#bytes;
    if (text.length * 3 > room && Buffer.byteLength(text) > room) throw new ResultTooLarge();
  }

  /** Everything that is written, with the text after the last chunk. */
  end(text: string): JsonText {
    return { chunks: this.#chunks, text };
  }
}

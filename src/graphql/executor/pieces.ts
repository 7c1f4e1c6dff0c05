/** A text that is longer is kept as bytes. */
const maxTextLength = 64 * 1024;

/** Before and after the number of a piece: a character that JSON text has only escaped. */
const edge = '\0';

interface Piece {
  readonly chunks: readonly Buffer[];
  /** In UTF-16 code units. */
  readonly length: number;
  readonly bytes: number;
}

/**
 * The long pieces of one response, kept as bytes; in its JSON text a mark stands for each. See "Long texts are kept as
 * bytes" in DECISIONS.
 */
export class Pieces {
  #pieces: Map<string, Piece> | undefined;
  #lastNumber = 0;

  get isEmpty(): boolean {
    return this.#pieces === undefined || this.#pieces.size === 0;
  }

  isLong(text: string): boolean {
    return text.length > maxTextLength;
  }

  /** The text, or a mark for it when it is long. */
  kept(text: string): string {
    return this.isLong(text) ? this.keep(text) : text;
  }

  /** A mark for the text, in which there may be marks already. */
  keep(text: string): string {
    const piece = { chunks: this.chunksOf(text), length: this.lengthOf(text), bytes: this.bytesOf(text) };
    this.drop(text);
    this.#lastNumber += 1;
    (this.#pieces ??= new Map()).set(String(this.#lastNumber), piece);
    return edge + String(this.#lastNumber) + edge;
  }

  /** The text is not needed any more. */
  drop(text: string): void {
    text.split(edge).forEach((part, index) => {
      if (isNumber(index)) this.#pieces?.delete(part);
    });
  }

  /** In UTF-16 code units, as a text without marks would have. */
  lengthOf(text: string): number {
    return this.#sum(text, ({ length }) => length);
  }

  bytesOf(text: string): number {
    return this.#sum(text, (part) => (typeof part === 'string' ? Buffer.byteLength(part) : part.bytes));
  }

  wholeText(text: string): string {
    return this.isEmpty ? text : Buffer.concat(this.chunksOf(text)).toString();
  }

  chunksOf(text: string): readonly Buffer[] {
    return this.#parts(text).flatMap((part) => (typeof part === 'string' ? Buffer.from(part) : part.chunks));
  }

  #sum(text: string, sizeOf: (part: string | Piece) => number): number {
    return this.#parts(text).reduce((sum, part) => sum + sizeOf(part), 0);
  }

  #parts(text: string): readonly (string | Piece)[] {
    if (this.isEmpty) return [text];
    return text
      .split(edge)
      .map((part, index) => (isNumber(index) ? ((this.#pieces as Map<string, Piece>).get(part) as Piece) : part));
  }
}

/** Of the parts between edges every other one is the number of a piece. */
function isNumber(index: number): boolean {
  return index % 2 === 1;
}

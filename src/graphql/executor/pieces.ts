/** A text that is longer is kept as bytes. From twice its size on V8 gives a text memory of its own. */
const maxTextLength = 32 * 1024;

/** Before and after the number of a piece: a character that JSON text has only escaped. */
const edge = '\0';

interface Piece {
  readonly chunks: readonly Buffer[];
  /** In UTF-16 code units. */
  readonly length: number;
}

/** A text between its marks, with the pieces that these stand for. */
type Parts = readonly (string | Piece)[];

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
    const parts = this.#parts(text);
    this.drop(text);
    this.#lastNumber += 1;
    const number = String(this.#lastNumber);
    (this.#pieces ??= new Map()).set(number, { chunks: chunksOf(parts), length: lengthOf(parts) });
    return edge + number + edge;
  }

  /** The text is not needed any more. */
  drop(text: string): void {
    if (this.isEmpty) return;
    text.split(edge).forEach((part, index) => {
      if (isNumber(index)) this.#pieces?.delete(part);
    });
  }

  /** In UTF-16 code units, as a text without marks would have. */
  lengthOf(text: string): number {
    return lengthOf(this.#parts(text));
  }

  bytesOf(text: string): number {
    return this.#parts(text).reduce(
      (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : lengthOf(part.chunks)),
      0,
    );
  }

  wholeText(text: string): string {
    return this.isEmpty ? text : Buffer.concat(this.chunksOf(text)).toString();
  }

  chunksOf(text: string): readonly Buffer[] {
    return chunksOf(this.#parts(text));
  }

  #parts(text: string): Parts {
    const pieces = this.#pieces;
    if (pieces === undefined || pieces.size === 0) return [text];
    return text.split(edge).map((part, index) => (isNumber(index) ? (pieces.get(part) as Piece) : part));
  }
}

/** Of the parts between edges every other one is the number of a piece. */
function isNumber(index: number): boolean {
  return index % 2 === 1;
}

function lengthOf(parts: readonly { readonly length: number }[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** None is empty: a stream that gets empty chunks may stop to read. */
function chunksOf(parts: Parts): readonly Buffer[] {
  return parts.flatMap((part) => {
    if (typeof part !== 'string') return part.chunks;
    return part === '' ? [] : Buffer.from(part);
  });
}

/** A condition on a folded text that the index of trigrams decides nearly alone: few rows that it finds don't meet it. */
export interface TrigramTest {
  readonly operator: 'like' | '~';
  readonly pattern: string;
}

/** By these the index finds texts; that of letters beyond ASCII depends on the database. */
export interface TrigramTests {
  readonly tests: readonly TrigramTest[];
  readonly isPlain: boolean;
}

const plainWords = /[a-zA-Z0-9]+/g;
const words = /[\p{L}\p{Nd}]+/gu;
/** To the index each of them is the end of a word; of more PostgreSQL would look for no trigrams at all. */
const separators = '[ -/:-@\\[-`{-~]';
const separator = new RegExp(separators, 'u');
/** Each takes time on each row; of the last ones, for numbers come last. */
const maxTests = 4;

/**
 * What every text meets that contains the given one, in pieces of three characters. (By its trigrams `b a` is `a b`, and
 * `bella bella` is `bella`: looking for the whole, PostgreSQL would fetch each of these rows to refuse it, however many
 * there are.) Undefined where no word has three characters.
 */
export function trigramTests(text: string): TrigramTests | undefined {
  for (const isPlain of [true, false]) {
    const found = Array.from(text.matchAll(isPlain ? plainWords : words), ({ 0: word, index }) => ({
      characters: Array.from(word),
      isBegun: separator.test(text.charAt(index - 1)),
    }));
    if (!found.some(({ characters }) => characters.length >= 3)) continue;
    const parts = found.flatMap(({ characters, isBegun }) => partsOf(characters, isBegun ? 1 : 0));
    const begins = found.flatMap(({ characters, isBegun }) => (isBegun ? [characters.slice(0, 3).join('')] : []));
    const tests = [
      ...Array.from(new Set(parts), (part): TrigramTest => ({ operator: 'like', pattern: `%${part}%` })),
      ...Array.from(new Set(begins), (begin): TrigramTest => ({ operator: '~', pattern: `(^|${separators})${begin}` })),
    ];
    return { tests: tests.slice(-maxTests), isPlain };
  }
  return undefined;
}

/** Pieces of three characters that have all from there. */
function partsOf(characters: readonly string[], from: number): string[] {
  const last = characters.length - 3;
  const starts = Array.from({ length: Math.ceil(characters.length / 3) }, (_, index) => Math.min(3 * index, last));
  return starts.filter((start) => start >= from).map((start) => characters.slice(start, start + 3).join(''));
}

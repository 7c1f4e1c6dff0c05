import { maxJsonDepth, maxJsonValues } from './limits.ts';
import { Refusal } from './refusal.ts';

declare global {
  interface JSON {
    /** Not in TypeScript's library yet (proposal-json-parse-with-source). */
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source: string }) => unknown,
    ): unknown;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Shorter literals keep their value as a double, unless it is too large. */
const maxExactCharacters = 15;
const wholeNumber = /^-?\d+(?:\.0*)?$/;
const zero = /^-?[0.]+(?:e|$)/i;

const [space, quote, comma, minus, point, backslash] = [0x20, 0x22, 0x2c, 0x2d, 0x2e, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [lowerE, upperE] = [0x65, 0x45];

/** Whether a double keeps the number: a safe integer, written so that no rounding can have made it one. */
export function isExact(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isSafeInteger(value)) return false;
  // A double has no 1e-400 either.
  if (value === 0) return zero.test(literal);
  return literal.length <= maxExactCharacters || wholeNumber.test(literal);
}

/**
 * `JSON.parse` for texts of clients, with what `readNumber` makes of the text of each number that is no exact integer.
 *
 * Throws BAD_REQUEST beyond the limits of levels and values, before anything is made of the text, and SyntaxError for
 * what isn't JSON, or TypeError for bytes that aren't UTF-8. Every body and every JSON parameter is parsed here.
 */
export function parseJson(json: Buffer | string, readNumber: (literal: string) => unknown): unknown {
  // Without a byte order mark.
  const text = typeof json === 'string' ? json : utf8.decode(json);
  if (!scan(text)) return JSON.parse(text);
  // A reviver takes some 2 µs for each value.
  return JSON.parse(text, (_name, value, { source }) =>
    typeof value === 'number' && !isExact(source) ? readNumber(source) : value,
  );
}

/**
 * Whether a text, JSON or not, has numbers that aren't short integers; throws BAD_REQUEST when it has too many levels
 * or values. One pass, which ends there.
 */
function scan(text: string): boolean {
  let hasOtherNumbers = false;
  let depth = 0;
  let values = 0;
  /** Whether the object or list before is still empty. */
  let isEmpty = false;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code <= space) {
      at += 1;
      continue;
    }
    const isClosing = code === closeBrace || code === closeBracket;
    if (code === comma || (isEmpty && !isClosing)) values += 1;
    isEmpty = code === openBrace || code === openBracket;
    if (isEmpty) depth += 1;
    else if (isClosing) depth -= 1;
    if (depth > maxJsonDepth) throw tooDeep;
    if (values > maxJsonValues) throw tooMany;
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === minus || isDigit(code)) {
      const end = endOfDigits(text, at);
      hasOtherNumbers ||= end - at > maxExactCharacters || goesOn(text.charCodeAt(end));
      at = end;
    } else {
      at += 1;
    }
  }
  return hasOtherNumbers;
}

const figures = new Intl.NumberFormat('en');

const tooDeep = new Refusal(
  'BAD_REQUEST',
  `The JSON has more than ${maxJsonDepth} levels of objects and lists inside one another.`,
);

const tooMany = new Refusal(
  'BAD_REQUEST',
  `The JSON has more than ${figures.format(maxJsonValues)} values (members of objects and items of lists, on all levels together).`,
);

function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return json.length;
}

function endOfDigits(json: string, start: number): number {
  let at = start + 1;
  while (isDigit(json.charCodeAt(at))) at += 1;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Whether a number that begins with digits goes on with this character. */
function goesOn(code: number): boolean {
  return code === point || code === lowerE || code === upperE;
}

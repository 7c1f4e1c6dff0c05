import { randomBytes } from 'node:crypto';

import { HttpError } from './error-table.ts';

/** Levels of objects and lists. Deeper texts are refused before anything is made of them. */
export const maxJsonDepth = 500;

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Shorter literals keep their value as a double, unless it is too large. */
const maxExactCharacters = 15;
const perhapsRounded = /\d(?:[\d.]{15}|[eE][+-]?\d)/;
const wholeNumber = /^-?\d+(?:\.0*)?$/;

const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The text of a JSON body, without a byte order mark; throws a TypeError when it isn't UTF-8. */
export function decodeJson(bytes: Buffer): string {
  return utf8.decode(bytes);
}

/** False only when all numbers of a JSON text are short. */
export function mayHaveRoundedNumbers(json: string): boolean {
  return perhapsRounded.test(json);
}

/** Whether a double keeps the number: a safe integer, written so that no rounding can have made it one. */
export function isExact(literal: string): boolean {
  if (!Number.isSafeInteger(Number(literal))) return false;
  return literal.length <= maxExactCharacters || wholeNumber.test(literal);
}

/**
 * `JSON.parse` for texts of clients. Throws BAD_REQUEST beyond `maxJsonDepth`, and SyntaxError for what isn't JSON.
 *
 * Every body and every JSON parameter is parsed here.
 */
export function parseJson(text: string): unknown {
  assertNesting(text);
  return JSON.parse(text);
}

/** Throws BAD_REQUEST when a text, JSON or not, opens more than `maxJsonDepth` levels. One pass, which ends there. */
function assertNesting(text: string): void {
  // A shorter text can't open and close as many.
  if (text.length <= 2 * maxJsonDepth) return;
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
      continue;
    }
    if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) depth -= 1;
    if (depth > maxJsonDepth) throw tooDeep;
    at += 1;
  }
}

const tooDeep = new HttpError(
  'BAD_REQUEST',
  `The JSON has more than ${maxJsonDepth} levels of objects and lists inside one another.`,
);

/**
 * Replaces number literals of a JSON text, for numbers that a double can't keep.
 *
 * `json` must be valid JSON: parse it first. `replace` gets each literal as it is written, with the number of objects
 * and arrays around it, and gives undefined to leave it. One pass over the text, whatever is in it. (The reviver of
 * `JSON.parse` sees the literals too, but takes up to a second for 1 MiB.)
 */
export function replaceNumbers(json: string, replace: (literal: string, depth: number) => string | undefined): string {
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = endOfString(json, at);
    } else if (code === minus || isDigit(code)) {
      const end = endOfNumber(json, at);
      const replacement = replace(json.slice(at, end), depth);
      if (replacement !== undefined) {
        parts.push(json.slice(copied, at), replacement);
        copied = end;
      }
      at = end;
    } else {
      if (code === openBrace || code === openBracket) depth += 1;
      else if (code === closeBrace || code === closeBracket) depth -= 1;
      at += 1;
    }
  }
  return copied === 0 ? json : parts.join('') + json.slice(copied);
}

/**
 * The value of a valid JSON text, with what `read` makes of its number literals. It gets the arguments of `replace` in
 * `replaceNumbers`, and gives undefined for a literal that is a number.
 */
export function withNumbers(json: string, read: (literal: string, depth: number) => unknown): unknown {
  // Strings stand in for them, and no client can know how these begin.
  const marker = randomBytes(12).toString('base64url');
  const values: unknown[] = [];
  const marked = replaceNumbers(json, (literal, depth) => {
    const value = read(literal, depth);
    return value === undefined ? undefined : `"${marker}${values.push(value) - 1}"`;
  });
  return values.length === 0 ? JSON.parse(json) : unmarked(JSON.parse(marked), marker, values);
}

function unmarked(value: unknown, marker: string, values: readonly unknown[]): unknown {
  if (typeof value === 'string') return value.startsWith(marker) ? values[Number(value.slice(marker.length))] : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = unmarked(value[index], marker, values);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) members[name] = unmarked(members[name], marker, values);
  return members;
}

function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return json.length;
}

function endOfNumber(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && isPartOfNumber(json.charCodeAt(at))) at += 1;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Digits, `.`, `e`, `E`, `+` and `-`. */
function isPartOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === minus;
}

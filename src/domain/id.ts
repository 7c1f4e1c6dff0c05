import { notFound } from './errors.ts';

declare const brand: unique symbol;

/** An int64 in canonical decimal: exact in JavaScript, JSON and SQL alike. */
export type Id = string & { readonly [brand]: 'Id' };

const canonicalDecimal = /^(?:0|-?[1-9]\d{0,18})$/;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** The id that the text spells, or undefined when it isn't valid: `007`, `+1`, `abc`, and anything beyond int64. */
export function parseId(text: string): Id | undefined {
  if (!canonicalDecimal.test(text)) return undefined;
  if (text.length >= 19) {
    const value = BigInt(text);
    if (value < minInt64 || value > maxInt64) return undefined;
  }
  return text as Id;
}

/** The id that the text spells; throws NOT_FOUND when it isn't valid. */
export function readId(noun: string, text: string): Id {
  const id = parseId(text);
  if (id === undefined) throw notFound(noun, text);
  return id;
}

export function compareIds(a: Id, b: Id): number {
  const [first, second] = [BigInt(a), BigInt(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

declare global {
  interface JSON {
    /** Not in TypeScript's library yet (proposal-json-parse-with-source). */
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/** JSON text that is written unchanged. */
export interface RawJson {
  readonly rawJSON: string;
}

export type JsonId = number | RawJson;

/** An integer of so many characters is exact as a double. */
const maxSafeCharacters = 15;
const zero = 0x30;

/** The id as a JSON number of exactly these digits; undefined where there is none. */
export function jsonId<Value extends Id | null | undefined>(id: Value): Value extends Id ? JsonId : undefined;
export function jsonId(id: Id | null | undefined): JsonId | undefined {
  if (id === null || id === undefined) return undefined;
  return id.length <= maxSafeCharacters ? integerOf(id) : JSON.rawJSON(id);
}

/** Digit by digit: `Number` calls V8's runtime for each new text, 45 ns instead of 10, of up to 200 ids a page. */
function integerOf(id: Id): number {
  const isNegative = id.startsWith('-');
  let value = 0;
  for (let at = isNegative ? 1 : 0; at < id.length; at += 1) value = value * 10 + id.charCodeAt(at) - zero;
  return isNegative ? -value : value;
}

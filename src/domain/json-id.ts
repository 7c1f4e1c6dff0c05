import type { Id } from './id.ts';

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

/** Digit by digit, because `Number` calls V8's runtime for each new string. */
function integerOf(id: Id): number {
  const isNegative = id.startsWith('-');
  let value = 0;
  for (let at = isNegative ? 1 : 0; at < id.length; at += 1) value = value * 10 + id.charCodeAt(at) - zero;
  return isNegative ? -value : value;
}

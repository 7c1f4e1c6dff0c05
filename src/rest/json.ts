import { randomUUID } from 'node:crypto';

import type { Id } from '../domain/id.ts';
import { HttpError } from '../http/error-table.ts';
import { replaceNumbers } from '../http/exact-json.ts';

declare global {
  interface JSON {
    /** Not in TypeScript's library yet (proposal-json-parse-with-source). */
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/** JSON text that is written unchanged. */
interface RawJson {
  readonly rawJSON: string;
}

/** A schema's type as it is serialized: an `Id`, which is a string of digits, becomes a JSON number. */
export type Json<Body> = {
  readonly [Field in keyof Body]: Body[Field] extends Id | undefined ? JsonId | NonId<Body[Field]> : Body[Field];
};
type JsonId = number | RawJson;
type NonId<Value> = Exclude<Value, Id>;

const maxSafeDigits = 15;
/** The characters of the longest int64. Longer integers are out of range, so they aren't converted. */
const maxInt64Characters = 20;
const integerLiteral = /^-?\d+$/;
/** A text without a match has no number but integers that a double keeps. */
const mayBeInexact = /\d{16}|\d[.eE]/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The id as a JSON number of exactly these digits. */
export function jsonId(id: Id): JsonId {
  return id.length <= maxSafeDigits ? Number(id) : JSON.rawJSON(id);
}

/**
 * Parses a body; throws BAD_REQUEST unless it is a JSON object.
 *
 * Of the object's own fields (those of nested values aren't used), an integer that a double can't keep is a bigint, and any other number
 * that isn't a safe integer is RawJson, so that error messages can quote it as it was sent.
 */
export function parseJsonObject(bytes: unknown): Readonly<Record<string, unknown>> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw badRequest('The body is empty, but must be a JSON object.');
  const { value, numberOf } = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The body must be a JSON object.');
  }
  if (numberOf === undefined) return value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, numberOf(each) ?? each]));
}

interface Parsed {
  readonly value: unknown;
  /** The number that a value stands for; undefined for any other value. */
  readonly numberOf?: (value: unknown) => bigint | RawJson | undefined;
}

function parse(bytes: Buffer): Parsed {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return mayBeInexact.test(text) ? parseExactly(text) : { value };
  } catch {
    throw badRequest('The body is not valid JSON in UTF-8.');
  }
}

/** Parses valid JSON with strings in the place of inexact numbers. No client can know how these strings begin. */
function parseExactly(json: string): Parsed {
  const marker = randomUUID();
  const value: unknown = JSON.parse(
    replaceNumbers(json, (literal) => (Number.isSafeInteger(Number(literal)) ? undefined : `"${marker}${literal}"`)),
  );
  return {
    value,
    numberOf: (each) =>
      typeof each === 'string' && each.startsWith(marker) ? exactNumber(each.slice(marker.length)) : undefined,
  };
}

function exactNumber(literal: string): bigint | RawJson {
  const isInteger = literal.length <= maxInt64Characters && integerLiteral.test(literal);
  return isInteger ? BigInt(literal) : JSON.rawJSON(literal);
}

function badRequest(message: string): HttpError {
  return new HttpError('BAD_REQUEST', message);
}

import type { Id } from '../domain/id.ts';
import type { JsonId, RawJson } from '../domain/json-id.ts';
import { HttpError } from '../http/error-table.ts';
import { decodeJson, isExact, mayHaveRoundedNumbers, parseJson, withNumbers } from '../http/exact-json.ts';

/** A schema's type as it is serialized: an `Id`, which is a string of digits, becomes a JSON number. */
export type Json<Body> = {
  readonly [Field in keyof Body]: Body[Field] extends Id | undefined ? JsonId | NonId<Body[Field]> : Body[Field];
};
type NonId<Value> = Exclude<Value, Id>;

/** The characters of the longest int64. Longer integers are out of range, so they aren't converted. */
const maxInt64Characters = 20;
const integerLiteral = /^-?\d+$/;

/**
 * Parses a body and returns those of its fields that have these names; throws BAD_REQUEST unless it is a JSON object.
 *
 * In them, an integer that a double can't keep is a bigint, and any other number that isn't a safe integer is RawJson,
 * so that error messages can quote it as it was sent. Numbers inside of nested values aren't used, and are what a
 * double makes of them.
 */
export function parseJsonObject(bytes: unknown, fields: readonly string[]): Readonly<Record<string, unknown>> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw badRequest('The body is empty, but must be a JSON object.');
  const text = decode(bytes);
  const value = parse(text);
  const known = fields.filter((name) => Object.hasOwn(value, name));
  const isKept = !mayHaveRoundedNumbers(text) && !known.some((name) => isInexact(value[name]));
  const exact = isKept ? value : (withNumbers(text, exactNumber) as typeof value);
  return Object.fromEntries(known.map((name) => [name, exact[name]]));
}

function decode(bytes: Buffer): string {
  try {
    return decodeJson(bytes);
  } catch {
    throw badRequest('The body is not valid JSON in UTF-8.');
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw badRequest('The body is not valid JSON in UTF-8.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw badRequest('The body must be a JSON object.');
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value);
}

/** Of a field of the body; undefined for what a double keeps. */
function exactNumber(literal: string, depth: number): bigint | RawJson | undefined {
  if (depth !== 1 || isExact(literal)) return undefined;
  const isInteger = literal.length <= maxInt64Characters && integerLiteral.test(literal);
  return isInteger ? BigInt(literal) : JSON.rawJSON(literal);
}

function badRequest(message: string): HttpError {
  return new HttpError('BAD_REQUEST', message);
}

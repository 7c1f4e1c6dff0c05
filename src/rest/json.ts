import type { Id, JsonId, RawJson } from '../domain/id.ts';
import { HttpError, isRefusal } from '../http/error-table.ts';
import { parseJson } from '../platform/http/index.ts';

/** A schema's type as JSON: an `Id` becomes a number, and an optional field that is undefined is left out. */
export type Json<Body> = {
  readonly [Field in keyof Body]:
    | Exclude<Body[Field], Id>
    | (Id extends Body[Field] ? JsonId : never)
    | (object extends Pick<Body, Field> ? undefined : never);
};

/** The characters of the longest int64. Longer integers are out of range, so they aren't converted. */
const maxInt64Characters = 20;
const integerLiteral = /^-?\d+$/;

/**
 * Parses a body and returns those of its fields that have these names; throws BAD_REQUEST unless it is a JSON object.
 *
 * An integer that a double can't keep is a bigint, and any other number that isn't a safe integer is RawJson, so that
 * error messages can quote it as it was sent.
 */
export function parseJsonObject(bytes: unknown, fields: readonly string[]): Readonly<Record<string, unknown>> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw badRequest('The body is empty, but must be a JSON object.');
  const value = parse(bytes);
  return Object.fromEntries(fields.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]));
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(bytes, exactNumber);
  } catch (error) {
    if (isRefusal(error)) throw error;
    throw badRequest('The body is not valid JSON in UTF-8.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value))
    return value as Record<string, unknown>;
  throw badRequest('The body must be a JSON object.');
}

function exactNumber(literal: string): bigint | RawJson {
  const isInteger = literal.length <= maxInt64Characters && integerLiteral.test(literal);
  return isInteger ? BigInt(literal) : JSON.rawJSON(literal);
}

function badRequest(message: string): HttpError {
  return new HttpError('BAD_REQUEST', message);
}

import type { Id } from '../domain/id.ts';
import { HttpError } from '../http/error-table.ts';

declare global {
  interface JSON {
    /** Not in TypeScript's library yet (proposal-json-parse-with-source). */
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/** A piece of JSON that is written as it stands. */
interface RawJson {
  readonly rawJSON: string;
}

/** What a schema's type looks like when it is written: an id, which is digits to the program, becomes a number. */
export type Json<Body> = {
  readonly [Field in keyof Body]: Body[Field] extends Id | undefined ? JsonId | NonId<Body[Field]> : Body[Field];
};
type JsonId = number | RawJson;
type NonId<Value> = Exclude<Value, Id>;

const maxSafeDigits = 15;
/** As many characters as an int64 can have; what is longer isn't worth counting with. */
const maxInt64Characters = 20;
const integerLiteral = /^-?\d+$/;
/** Without any of this a text has no number but integers that a double keeps. */
const mayBeInexact = /\d{16}|\d[.eE]/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The id as a JSON number of exactly these digits. */
export function jsonId(id: Id): JsonId {
  return id.length <= maxSafeDigits ? Number(id) : JSON.rawJSON(id);
}

/**
 * The object that a body holds; throws BAD_REQUEST when there is none.
 *
 * An integer that a double can't keep comes as a bigint. A number that is of no use here, neither of the two, comes as the piece
 * of JSON that it was, so that whoever refuses it can quote it.
 */
export function parseJsonObject(bytes: unknown): Readonly<Record<string, unknown>> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw badRequest('The body is empty, but must be a JSON object.');
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value)) {
    throw badRequest('The body must be a JSON object.');
  }
  return value as Readonly<Record<string, unknown>>;
}

function parse(bytes: Buffer): unknown {
  try {
    const text = utf8.decode(bytes);
    return mayBeInexact.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
  } catch {
    throw badRequest('The body is not valid JSON in UTF-8.');
  }
}

function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? String(value);
  return source.length <= maxInt64Characters && integerLiteral.test(source) ? BigInt(source) : JSON.rawJSON(source);
}

function badRequest(message: string): HttpError {
  return new HttpError('BAD_REQUEST', message);
}

import { crc32 } from 'node:zlib';

import { parseId, type Id } from './id.ts';
import { earliestInstant, latestInstant } from './instant.ts';

/** What a list can be sorted by: text by code point, an int32, or an instant as milliseconds since 1970, which may be missing. */
export type SortValueType = 'text' | 'integer' | 'instant';

/** Null when the row has no value, or when the list is sorted by id alone. */
export type SortValue = string | number | null;

export interface SortKey<Row> {
  readonly type: SortValueType;
  readonly valueOf: (row: Row) => SortValue;
}

/** A place in a sorted list: that of the row with these values, whether it still exists or not. */
export interface Position {
  readonly value: SortValue;
  readonly id: Id;
}

/** The list that a cursor belongs to. */
export interface CursorScope {
  readonly kind: string;
  readonly sortField: string;
  /** Undefined when the list is sorted by id alone. */
  readonly valueType: SortValueType | undefined;
}

/** Changes with the form of the cursors, so that those of another form are refused instead of misread. */
const version = 1;
const checksumLength = 8;

/**
 * The opaque name of a place in a list: base64url of the place with a checksum.
 *
 * It holds the row's values, not a count of rows, so that it stays good when rows come and go; also when its own row goes.
 */
export function encodeCursor(scope: CursorScope, position: Position): string {
  const body = JSON.stringify([scope.kind, scope.sortField, position.value, position.id]);
  return Buffer.from(checksum(body) + body).toString('base64url');
}

/** The place that the cursor names, or what is wrong with it, in words for the client. */
export function decodeCursor(scope: CursorScope, cursor: string): Position | { readonly problem: string } {
  const parts = parse(cursor);
  if (parts !== undefined) {
    const [kind, sortField, value, id] = parts;
    if (kind !== scope.kind) return { problem: `${quote(cursor)} is a cursor of another list, of ${String(kind)}.` };
    if (sortField !== scope.sortField) {
      const order = `${String(sortField)}, not by ${scope.sortField}`;
      return { problem: `${quote(cursor)} is a cursor of a list ordered by ${order}.` };
    }
    const parsedId = typeof id === 'string' ? parseId(id) : undefined;
    if (parsedId !== undefined && isSortValue(scope.valueType, value)) return { value, id: parsedId };
  }
  return { problem: `${quote(cursor)} is not a cursor of this service: use one that a list has given you.` };
}

/** What stands in a cursor whose checksum is right. That doesn't prove that we wrote it. */
function parse(cursor: string): readonly unknown[] | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString();
  const body = text.slice(checksumLength);
  // Compared in the encoded form too, because decoding passes over what it doesn't know.
  if (!text.startsWith(checksum(body)) || bytes.toString('base64url') !== cursor) return undefined;
  try {
    const parts: unknown = JSON.parse(body);
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

function isSortValue(type: SortValueType | undefined, value: unknown): value is SortValue {
  switch (type) {
    case undefined:
      return value === null;
    case 'text':
      return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
    case 'integer':
      return Number.isInteger(value) && Math.abs(value as number) < 2 ** 31;
    case 'instant':
      if (value === null) return true;
      return Number.isInteger(value) && (value as number) >= earliestInstant && (value as number) <= latestInstant;
  }
}

function checksum(body: string): string {
  return crc32(body, version).toString(16).padStart(checksumLength, '0');
}

function quote(cursor: string): string {
  return JSON.stringify(cursor.length > 60 ? `${cursor.slice(0, 60)}…` : cursor);
}

import { parseId, type Id } from './id.ts';
import { decodeOpaque, encodeOpaque } from './opaque-text.ts';
import { quoted } from './errors.ts';
import { type SortedTypeName, sortedTypes, type SortValue } from './value-types.ts';

/** A position in a sorted list: that of a row with these values, which needn't exist any more. */
export interface ListPosition {
  /** Null when the row has no value, or when the list is sorted by id alone. */
  readonly value: SortValue;
  readonly id: Id;
}

export interface CursorScope {
  readonly kind: string;
  readonly sortField: string;
  /** Null when the list is sorted by id alone. */
  readonly key: { readonly type: SortedTypeName; readonly isNullable?: true } | null;
}

/** Holds the row's values, not an offset: it stays valid when rows are inserted or deleted, its own included. */
export function encodeCursor(scope: CursorScope, position: ListPosition): string {
  return encodeOpaque([scope.kind, scope.sortField, position.value, position.id]);
}

/** The position in the cursor, or an error message for the client. */
export function decodeCursor(scope: CursorScope, cursor: string): ListPosition | { readonly problem: string } {
  const parts = decodeOpaque(cursor);
  if (parts !== undefined) {
    const [kind, sortField, value, id] = parts;
    if (kind !== scope.kind) {
      const other = `${String(kind)}, not to ${scope.kind}`;
      return { problem: `${quoted(cursor)} belongs to ${other}: use a cursor that this list has given you.` };
    }
    if (sortField !== scope.sortField) {
      const order = `${String(sortField)}, not by ${scope.sortField}`;
      return { problem: `${quoted(cursor)} is a cursor of a list ordered by ${order}.` };
    }
    const parsedId = typeof id === 'string' ? parseId(id) : undefined;
    if (parsedId !== undefined && isSortValue(scope.key, value)) return { value, id: parsedId };
  }
  return { problem: `${quoted(cursor)} is not a cursor of this service: use one that a list has given you.` };
}

function isSortValue(key: CursorScope['key'], value: unknown): value is SortValue {
  if (value === null) return key === null || key.isNullable === true;
  return key !== null && sortedTypes[key.type].isPosition(value);
}

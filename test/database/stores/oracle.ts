import type { ListPosition } from '../../../src/domain/cursor.ts';
import type { SortValue } from '../../../src/domain/value-types.ts';
import { sortValue, type Keyset, type Slice, type Sorting } from '../../../src/domain/page.ts';

/** The expected slice: everything is sorted, then cut. */
export function expectedSlice<Row, SortField extends string>(
  sorting: Sorting<Row, SortField>,
  rows: readonly Row[],
  keyset: Keyset<SortField>,
): Slice<Row> {
  const { sort, after, before, takeLast, limit } = keyset;
  const key = sorting.keys[sort.field];
  const placeOf = (row: Row): ListPosition => ({ value: sortValue(key, row), id: sorting.idOf(row) });
  const hasNulls = key !== null;
  const compare = (a: ListPosition, b: ListPosition): number =>
    comparePlaces(a, b, sort.direction === 'desc' ? -1 : 1, hasNulls);
  const range = rows
    .toSorted((a, b) => compare(placeOf(a), placeOf(b)))
    .filter((row) => after === undefined || compare(placeOf(row), after) > 0)
    .filter((row) => before === undefined || compare(placeOf(row), before) < 0);
  const cut = takeLast ? range.slice(Math.max(0, range.length - limit)) : range.slice(0, limit);
  return { rows: cut, hasMore: range.length > limit };
}

function comparePlaces(a: ListPosition, b: ListPosition, direction: number, hasNulls: boolean): number {
  if (hasNulls && (a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1;
  return direction * (compareValues(a.value, b.value) || Number(BigInt(a.id) - BigInt(b.id)));
}

function compareValues(a: SortValue, b: SortValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}

import { decodeCursor, encodeCursor, type CursorScope, type ListPosition } from './cursor.ts';
import { parseFilter, type FilterFields, type FilterOf, type FilterRequest } from './filter.ts';
import type { Id } from './id.ts';
import { InputCheck, type Rule } from './input.ts';
import { integerRule } from './rules.ts';
import { type SortedTypeName, sortedTypes, type SortValue } from './value-types.ts';

export const defaultPageSize = 20;
export const maxPageSize = 100;
/** For reading a collection from end to end, page by page. */
export const maxBatchSize = 1000;
/** A batch for a whole collection ends where it reaches either; small enough that the heap doesn't grow. */
const walkBatchSize = 500;
export const walkBatchBytes = 256 * 1024;

/** In the terms of the Relay connection specification; `null` counts as left out. */
export interface PageArguments {
  readonly first?: number | null | undefined;
  /** A cursor, or the position that it was decoded to. */
  readonly after?: string | ListPosition | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  /** The request is only checked, and the page is empty: nothing of it is selected. */
  readonly isUnread?: boolean | undefined;
  /** The page may be shorter: it ends at the row with which its values take as many bytes as text. */
  readonly maxBytes?: number | undefined;
}

export type SortDirection = 'asc' | 'desc';

/** Ties are broken by id in the same direction; rows without a value come last either way. */
export interface Sort<SortField extends string> {
  readonly field: SortField;
  readonly direction: SortDirection;
}

/** The client's page and order, unvalidated. */
export interface ListRequest<FilterInput, SortField extends string> extends PageArguments {
  readonly filter?: FilterInput | null | undefined;
  readonly orderBy?: Sort<SortField> | null | undefined;
}

/** How a list is read, besides what the client requests. */
export interface ListOptions<Relation extends string = never> {
  /** Instead of 100. */
  readonly maxSize?: number | undefined;
  readonly include?: readonly Relation[] | undefined;
}

/** A range of a sorted list, between two positions instead of at an offset. */
export interface Keyset<SortField extends string> {
  readonly sort: Sort<SortField>;
  readonly after: ListPosition | undefined;
  readonly before: ListPosition | undefined;
  /** Takes the last `limit` rows of the range instead of the first; they keep the list's order. */
  readonly takeLast: boolean;
  readonly limit: number;
  /** Nothing is read. */
  readonly isUnread?: boolean | undefined;
  /** See `PageArguments`. */
  readonly maxBytes?: number | undefined;
}

export interface SortKey<Row> {
  readonly type: SortedTypeName;
  readonly property: keyof Row & string;
  /** Rows may be without a value. */
  readonly isNullable?: true;
}

export interface Sorting<Row, SortField extends string> {
  /** The name of the list, stored in cursors, so that a cursor of another list is refused. */
  readonly kind: string;
  readonly idOf: (row: Row) => Id;
  /** Ties are broken by id; null sorts by id alone. */
  readonly keys: Readonly<Record<SortField, SortKey<Row> | null>>;
  readonly defaultField: SortField;
}

/** A list of rows: the orders and the filter that clients may ask for. */
export interface List<Row = never, SortField extends string = string> {
  readonly sorting: Sorting<Row, SortField>;
  readonly filter: FilterFields;
}

export type SortFieldOf<Of extends List> = keyof Of['sorting']['keys'] & string;

/** A list that is in the order of the ids, unless the client asks for another order. */
export function sortedById<Row extends { readonly id: Id }, SortField extends string>(
  _entity: new () => Row,
  kind: string,
  keys: Readonly<Record<SortField, SortKey<Row>>>,
): Sorting<Row, 'ID' | SortField> {
  const idOf = (row: Row): Id => row.id;
  return { kind, idOf, keys: { ID: null, ...keys }, defaultField: 'ID' };
}

/** The rows of a range, and whether the limit has cut off more. */
export interface Slice<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Where the search for rows has stopped before there were enough; the range goes on there. */
  readonly stop?: ListPosition | undefined;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  cursorOf(row: Row): string;
  /** Where to go on from a page that stopped before it was full, and may be empty; undefined for any other. */
  readonly stop: { readonly side: 'start' | 'end'; readonly cursor: string } | undefined;
}

/** Turns the client's page and order into a keyset; violations are added to the check. */
export function parseKeyset<Row, SortField extends string>(
  sorting: Sorting<Row, SortField>,
  request: ListRequest<unknown, SortField>,
  check: InputCheck,
  maxSize = maxPageSize,
): Keyset<SortField> {
  const { first, after, last, before } = request;
  const sort = request.orderBy ?? { field: sorting.defaultField, direction: 'asc' };
  if (isPresent(first) && isPresent(last)) check.refuse('last', 'must not be combined with first: use one of them.');
  check.optional('first', first, integerRule(0, maxSize));
  check.optional('last', last, integerRule(0, maxSize));
  const rule = cursorRule(sorting, sort.field);
  return {
    sort,
    after: isPresent(after) && typeof after === 'object' ? after : check.optional('after', after, rule),
    before: check.optional('before', before, rule),
    takeLast: isPresent(last),
    limit: first ?? last ?? defaultPageSize,
    isUnread: request.isUnread,
    maxBytes: request.maxBytes,
  };
}

/** Turns the client's request for a list into a filter and a keyset. Throws VALIDATION_FAILED with every violation. */
export function parseListRequest<Row, SortField extends string, Fields extends FilterFields>(
  { sorting, filter }: { readonly sorting: Sorting<Row, SortField>; readonly filter: Fields },
  request: ListRequest<FilterRequest<Fields>, SortField>,
  maxSize?: number,
): { readonly filter: FilterOf<Fields>; readonly keyset: Keyset<SortField> } {
  const check = new InputCheck();
  const keyset = parseKeyset(sorting, request, check, maxSize);
  const parsed = parseFilter(filter, check, request.filter ?? {});
  check.throwIfRefused();
  return { filter: parsed, keyset };
}

/** The page of a range. A cursor implies that there are rows before it: the Relay specification allows not to look. */
export function pageOf<Row, SortField extends string>(
  sorting: Sorting<Row, SortField>,
  keyset: Keyset<SortField>,
  slice: Slice<Row>,
): Page<Row> {
  const { sort, after, before, takeLast } = keyset;
  const key = sorting.keys[sort.field];
  const scope = scopeOf(sorting, sort.field);
  return {
    rows: slice.rows,
    hasNextPage: takeLast ? before !== undefined : slice.hasMore,
    hasPreviousPage: takeLast ? slice.hasMore : after !== undefined,
    cursorOf: (row) => encodeCursor(scope, { value: sortValue(key, row), id: sorting.idOf(row) }),
    stop: slice.stop && { side: takeLast ? 'start' : 'end', cursor: encodeCursor(scope, slice.stop) },
  };
}

/** By what the row is sorted before its id. */
export function sortValue<Row>(key: SortKey<Row> | null, row: Row): SortValue {
  return key && positionOf(key, row[key.property]);
}

/** A value of the property, as positions have it. */
export function positionOf({ type }: Pick<SortKey<never>, 'type'>, value: unknown): SortValue {
  return value === null || value === undefined ? null : sortedTypes[type].position(value);
}

/** The rule for a cursor of a list in this order. */
export function cursorRule(
  list: Pick<Sorting<never, string>, 'kind' | 'keys' | 'defaultField'>,
  sortField = list.defaultField,
): Rule<string, ListPosition> {
  const scope = scopeOf(list, sortField);
  return (cursor, refuse) => {
    const decoded = decodeCursor(scope, cursor);
    if (!('problem' in decoded)) return decoded;
    refuse(decoded.problem);
    return firstPosition;
  };
}

/** Stands in for the position of a refused cursor. */
const firstPosition: ListPosition = { value: null, id: '0' as Id };

/**
 * All rows of a list, or all after a cursor, in batches of one statement each: no connection is held while the caller
 * works on a batch.
 *
 * Every row that exists during the whole walk comes exactly once; one created, changed or deleted meanwhile comes in
 * its old or new state, or not at all.
 */
export async function* inBatches<Row>(
  list: (request: PageArguments) => Promise<Page<Row>>,
  after?: PageArguments['after'],
  batchSize = walkBatchSize,
): AsyncGenerator<readonly Row[], void> {
  let position = after;
  do {
    const page = await list({ first: batchSize, after: position, maxBytes: walkBatchBytes });
    const last = page.rows.at(-1);
    yield page.rows;
    position = page.hasNextPage ? (page.stop?.cursor ?? (last && page.cursorOf(last))) : undefined;
  } while (position !== undefined);
}

function scopeOf({ kind, keys }: Pick<Sorting<never, string>, 'kind' | 'keys'>, sortField: string): CursorScope {
  return { kind, sortField, key: keys[sortField] ?? null };
}

function isPresent<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

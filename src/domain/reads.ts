import { notFound } from './errors.ts';
import { parseId, type Id } from './id.ts';
import type { Keyset, Slice } from './page.ts';

/**
 * Reading the rows of one kind: an interface here, prepared statements in `database/reads/`.
 *
 * Every method is one statement, however many ids or parents are given.
 */
export interface Reads<Row, Filter, SortField extends string> {
  /** The rows with these ids, in the order of the ids; undefined where there is none. */
  byIds(ids: readonly Id[]): Promise<(Row | undefined)[]>;
  slice(filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>>;
  count(filter: Filter): Promise<number>;
}

/** Reading rows that belong to a parent: the pets of a category, the orders of a pet. */
export interface NestedReads<Row, Filter, SortField extends string> extends Reads<Row, Filter, SortField> {
  /** The same stretch for each parent, in the order of the parents; empty for one that doesn't exist. */
  slicePerParent(parentIds: readonly Id[], filter: Filter, keyset: Keyset<SortField>): Promise<Slice<Row>[]>;
  countPerParent(parentIds: readonly Id[], filter: Filter): Promise<number[]>;
}

/** The rows that the texts name, in their order; null where there is none. */
export async function findByIds<Row>(
  reads: Pick<Reads<Row, never, never>, 'byIds'>,
  texts: readonly string[],
): Promise<(Row | null)[]> {
  const ids = texts.map(parseId);
  const rows = (await reads.byIds(ids.filter((id) => id !== undefined))).values();
  return ids.map((id) => (id === undefined ? null : (rows.next().value ?? null)));
}

/** The row that the text names; throws NOT_FOUND when there is none. */
export async function getById<Row>(
  reads: Pick<Reads<Row, never, never>, 'byIds'>,
  noun: string,
  text: string,
): Promise<Row> {
  const [row] = await findByIds(reads, [text]);
  if (row === null || row === undefined) throw notFound(noun, text);
  return row;
}

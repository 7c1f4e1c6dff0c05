import { notFound } from './errors.ts';
import { readId, parseId } from './id.ts';
import type { Include, ReadStore, WriteStore } from './store.ts';

/** The rows with these ids, in their order; null where there is none. */
export async function findByIds<Row, Relation extends string>(
  store: Pick<ReadStore<Row, never, never, Relation>, 'byIds'>,
  texts: readonly string[],
  include?: Include<Relation>,
): Promise<(Row | null)[]> {
  const ids = texts.map(parseId);
  const known = ids.filter((id) => id !== undefined);
  const rows = (await store.byIds(known, include)).values();
  return ids.map((id) => (id === undefined ? null : (rows.next().value ?? null)));
}

/** The row with this id, locked until the transaction ends. Throws NOT_FOUND when there is none. */
export async function lockById<Row>(
  store: Pick<WriteStore<Row, never>, 'lock'>,
  noun: string,
  id: string,
): Promise<Row> {
  return existing(await store.lock(readId(noun, id)), noun, id);
}

/** The row; throws NOT_FOUND when there is none. */
export function existing<Row>(row: Row | null | undefined, noun: string, id: string): Row {
  if (row === null || row === undefined) throw notFound(noun, id);
  return row;
}

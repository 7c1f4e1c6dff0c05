import { parseId, type Id } from './id.ts';
import { lockOrder } from './lock-order.ts';
import { nouns, type CollectionOf, type NounName } from './nouns.ts';
import type { LockStrength } from './store.ts';
import type { Stores } from './stores.ts';

/** From the strongest to the weakest. */
const strengths: readonly LockStrength[] = ['deleteNow', 'delete', 'change', 'refer'];

/** A row that an input names, and for what it is locked. An id that isn't one, or that is unset, names no row. */
export interface NamedRow {
  readonly noun: NounName;
  readonly id: string | null | undefined;
  readonly strength: LockStrength;
}

/** A row that another one names, or begins to name. */
export function refer(noun: NounName, id: NamedRow['id']): NamedRow {
  return { noun, id, strength: 'refer' };
}

export function change(noun: NounName, id: NamedRow['id']): NamedRow {
  return { noun, id, strength: 'change' };
}

export function remove(noun: NounName, id: NamedRow['id']): NamedRow {
  return { noun, id, strength: 'delete' };
}

/**
 * Locks the rows with the next statement of the transaction, all of a noun as strongly as one of them needs: two
 * statements for one table would have two orders.
 */
export async function lockNamedRows(stores: Stores, rows: readonly NamedRow[]): Promise<void> {
  for (const noun of lockOrder) {
    const named = rows.filter((row) => row.noun === noun && idOfNamed(row) !== undefined);
    if (named.length === 0) continue;
    const ids = [...new Set(named.map((row) => idOfNamed(row) as Id))];
    const needed = new Set(named.map(({ strength }) => strength));
    const store: Pick<Stores[CollectionOf<NounName>], 'lockAll'> = stores[nouns[noun].collection];
    await store.lockAll(ids, strengths.find((each) => needed.has(each)) ?? 'delete');
  }
}

/**
 * The locks with which a transaction begins whose deletions may never be reached: until `lockDeletions` others can still
 * name the rows.
 */
export function beforeDeletions(rows: readonly NamedRow[]): readonly NamedRow[] {
  return rows.map((row) => (row.strength === 'delete' ? change(row.noun, row.id) : row));
}

/**
 * Locks the rows that are deleted next. Where others are just naming one, the transaction fails as by a deadlock, which
 * it would be if it waited: they may be waiting for what it has locked. It is tried again, with these locks first.
 */
export async function lockDeletions(stores: Stores, rows: readonly NamedRow[]): Promise<void> {
  const deleted = rows.filter(({ strength }) => strength === 'delete');
  await lockNamedRows(
    stores,
    deleted.map(({ noun, id }) => ({ noun, id, strength: 'deleteNow' })),
  );
}

function idOfNamed({ id }: NamedRow): Id | undefined {
  return id === null || id === undefined ? undefined : parseId(id);
}

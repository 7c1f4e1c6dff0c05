import { parseId, type Id } from './id.ts';
import { nounNames, nouns, referencesOf, type CollectionOf, type NounName } from './nouns.ts';
import type { LockStrength } from './store.ts';
import type { Stores } from './stores.ts';

/** From the strongest to the weakest. */
const strengths: readonly LockStrength[] = ['delete', 'change', 'refer'];

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
 * The order in which rows are locked: those that others name come before them, and those of one noun are in the order
 * of their ids. So operations that need the same rows wait for each other, and never each for the other.
 */
const order = inOrder(nounNames.toReversed());

function inOrder(names: readonly NounName[], before: readonly NounName[] = []): readonly NounName[] {
  return names.reduce(
    (ordered, name) =>
      ordered.includes(name) ? ordered : [...inOrder(Object.values(referencesOf(name)), ordered), name],
    before,
  );
}

/**
 * Locks the rows with the next statement of the transaction, all of a noun as strongly as one of them needs: two
 * statements for one table would have two orders.
 */
export async function lockNamedRows(stores: Stores, rows: readonly NamedRow[]): Promise<void> {
  for (const noun of order) {
    const named = rows.filter((row) => row.noun === noun && idOfNamed(row) !== undefined);
    if (named.length === 0) continue;
    const ids = [...new Set(named.map((row) => idOfNamed(row) as Id))];
    const needed = new Set(named.map(({ strength }) => strength));
    const store: Pick<Stores[CollectionOf<NounName>], 'lockAll'> = stores[nouns[noun].collection];
    await store.lockAll(ids, strengths.find((each) => needed.has(each)) ?? 'delete');
  }
}

function idOfNamed({ id }: NamedRow): Id | undefined {
  return id === null || id === undefined ? undefined : parseId(id);
}

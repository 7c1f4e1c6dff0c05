import { parseId, type Id } from './id.ts';
import { nounNames, nouns, referencesOf, type CollectionOf, type NounName } from './nouns.ts';
import type { LockStrength } from './store.ts';
import type { Stores } from './stores.ts';

/** From the strongest to the weakest. */
const strengths: readonly LockStrength[] = ['delete', 'change', 'refer'];

/** A row that an input names, and for what. */
export interface NamedRow {
  readonly noun: NounName;
  readonly id: unknown;
  readonly strength: LockStrength;
}

type Input = Readonly<Record<string, unknown>>;
type NamedRows = (input: Input, strength: LockStrength) => readonly NamedRow[];

/** What inputs name besides, or instead of, the row itself and those that it refers to. */
const particular: Partial<Record<NounName, NamedRows>> = {
  pet: (input, strength) => [
    ...ofEveryNoun('pet', input, strength),
    // It goes with the pet.
    ...(strength === 'delete' ? [{ noun: 'inventory', id: input['id'], strength } as const] : []),
  ],
  inventory: ({ petId, ifVersion }, strength) => [
    // The version covers the status of the pet.
    { noun: 'pet', id: petId, strength: typeof ifVersion === 'string' ? 'change' : 'refer' },
    { noun: 'inventory', id: petId, strength },
  ],
};

function ofEveryNoun(noun: NounName, input: Input, strength: LockStrength): readonly NamedRow[] {
  const referred = Object.entries(referencesOf(noun)).map(([property, other]): NamedRow => ({
    noun: other,
    id: input[property],
    strength: 'refer',
  }));
  return [...referred, { noun, id: input['id'], strength }];
}

/** The rows that the input of a creation, a change or a deletion names. What is no id names none. */
export function namedRows(noun: NounName, input: Input, strength: LockStrength): readonly NamedRow[] {
  return particular[noun]?.(input, strength) ?? ofEveryNoun(noun, input, strength);
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
  return typeof id === 'string' ? parseId(id) : undefined;
}

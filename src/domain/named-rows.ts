import { parseId, type Id } from './id.ts';
import type { NounName } from './nouns.ts';
import type { LockStrength } from './store.ts';
import type { Stores } from './stores.ts';

/**
 * The tables in the order in which rows are locked, and those of one table are in the order of their ids. So operations
 * that need the same rows wait for each other, and never each for the other.
 */
const order = ['categories', 'pets', 'inventory', 'orders'] as const;
/** From the strongest to the weakest. */
const strengths: readonly LockStrength[] = ['delete', 'change', 'refer'];

/** A row that an input names, and for what. */
export interface NamedRow {
  readonly table: (typeof order)[number];
  readonly id: unknown;
  readonly strength: LockStrength;
}

type Input = Readonly<Record<string, unknown>>;

/** The rows that the input of a creation, a change or a deletion names. What is no id names none. */
const rules: Readonly<Record<NounName, (input: Input, strength: LockStrength) => readonly NamedRow[]>> = {
  category: ({ id }, strength) => [{ table: 'categories', id, strength }],
  pet: ({ id, categoryId }, strength) => [
    { table: 'categories', id: categoryId, strength: 'refer' },
    { table: 'pets', id, strength },
    // It goes with the pet.
    ...(strength === 'delete' ? [{ table: 'inventory', id, strength } as const] : []),
  ],
  order: ({ id, petId }, strength) => [
    { table: 'pets', id: petId, strength: 'refer' },
    { table: 'orders', id, strength },
  ],
  inventory: ({ petId, ifVersion }, strength) => [
    // The version covers the status of the pet.
    { table: 'pets', id: petId, strength: typeof ifVersion === 'string' ? 'change' : 'refer' },
    { table: 'inventory', id: petId, strength },
  ],
};

export function namedRows(noun: NounName, input: Input, strength: LockStrength): readonly NamedRow[] {
  return rules[noun](input, strength);
}

/**
 * Locks the rows with the next statement of the transaction, all of a table as strongly as one of them needs: two
 * statements for one table would have two orders.
 */
export async function lockNamedRows(stores: Stores, rows: readonly NamedRow[]): Promise<void> {
  for (const table of order) {
    const named = rows.filter((row) => row.table === table && idOfNamed(row) !== undefined);
    if (named.length === 0) continue;
    const ids = [...new Set(named.map((row) => idOfNamed(row) as Id))];
    const needed = new Set(named.map(({ strength }) => strength));
    await stores[table].lockAll(ids, strengths.find((each) => needed.has(each)) ?? 'delete');
  }
}

function idOfNamed({ id }: NamedRow): Id | undefined {
  return typeof id === 'string' ? parseId(id) : undefined;
}

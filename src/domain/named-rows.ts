import { parseId, type Id } from './id.ts';
import { lockOrder } from './lock-order.ts';
import { nouns, type CollectionOf, type NounName, type ReferenceOf } from './nouns.ts';
import { type LockStrength, SerializationFailure } from './store.ts';
import type { Stores } from './stores.ts';

/** From the strongest to the weakest. */
const strengths: readonly LockStrength[] = ['deleteNow', 'delete', 'change', 'refer'];

/** A row that an input names, and for what it is locked. An id that isn't one, or that is unset, names no row. */
export interface NamedRow {
  readonly noun: NounName;
  readonly id: string | IdBehind | null | undefined;
  readonly strength: LockStrength;
}

/** The id of a row that a row of the input names. */
interface IdBehind {
  readonly noun: NounName;
  readonly id: string;
  readonly reference: string;
}

/** `behind('order', id, 'petId')` is the pet of the order with this id. The order itself has to be locked too. */
export function behind<Name extends NounName>(noun: Name, id: string, reference: ReferenceOf<Name>): IdBehind {
  return { noun, id, reference };
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
 *
 * What is behind others is read before, without a lock. Throws SerializationFailure when another row is behind them once
 * they are locked: the transaction can be done again.
 */
export async function lockNamedRows(stores: Stores, rows: readonly NamedRow[]): Promise<void> {
  const ids = await idsOf(stores, rows);
  await lockInOrder(stores, rows, ids);
  if (!rows.some(({ id }) => typeof id === 'object' && id !== null)) return;
  const locked = await idsOf(stores, rows);
  if (rows.some((row) => locked.get(row) !== ids.get(row)))
    throw new SerializationFailure('A row has changed between its being read and its lock.');
}

type Ids = ReadonlyMap<NamedRow, Id | undefined>;

async function lockInOrder(stores: Stores, rows: readonly NamedRow[], idsByRow: Ids): Promise<void> {
  for (const noun of lockOrder) {
    const named = rows.filter((row) => row.noun === noun && idsByRow.get(row) !== undefined);
    if (named.length === 0) continue;
    const ids = [...new Set(named.map((row) => idsByRow.get(row) as Id))];
    const needed = new Set(named.map(({ strength }) => strength));
    const store: Pick<Stores[CollectionOf<NounName>], 'lockAll'> = stores[nouns[noun].collection];
    await store.lockAll(ids, strengths.find((each) => needed.has(each)) ?? 'delete');
  }
}

/** Until `lockDeletions`, which may never be reached, others can still name the rows. */
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

/** Of rows behind others those that are named now: one statement for each row before them. */
async function idsOf(stores: Stores, rows: readonly NamedRow[]): Promise<Ids> {
  const ids = new Map<NamedRow, Id | undefined>();
  for (const row of rows) {
    const { id } = row;
    if (id === null || id === undefined) continue;
    ids.set(row, typeof id === 'string' ? parseId(id) : await idBehind(stores, id));
  }
  return ids;
}

async function idBehind(stores: Stores, { noun, id, reference }: IdBehind): Promise<Id | undefined> {
  const parsed = parseId(id);
  if (parsed === undefined) return undefined;
  const store: Pick<Stores[CollectionOf<NounName>], 'byIds'> = stores[nouns[noun].collection];
  const [row] = await store.byIds([parsed]);
  const behindIt: unknown = (row as Readonly<Record<string, unknown>> | undefined)?.[reference];
  return typeof behindIt === 'string' ? (behindIt as Id) : undefined;
}

import { idOf } from './id.ts';
import { lockById, required, type UpdateOptions, type WriteStore } from './store.ts';
import type { Stores } from './stores.ts';

/** The store of a row, and its name in messages. */
export interface RowKind<Store> {
  readonly noun: string;
  readonly storeOf: (stores: Stores) => Store;
}

interface CheckedUpdateOptions<Row, Relation extends string> extends UpdateOptions<Row, Relation> {
  /** Checks the locked row after the precondition; throws when the rules don't allow the change. */
  readonly check?: ((row: Row) => void) | undefined;
}

/**
 * Changes the row with this id: in one statement, or in a transaction when something about the row must hold first.
 *
 * Throws NOT_FOUND and PRECONDITION_FAILED.
 */
export async function updateById<Row, Data, Relation extends string>(
  stores: Stores,
  { noun, storeOf }: RowKind<Pick<WriteStore<Row, Data, Relation>, 'update' | 'lock'>>,
  id: string,
  changes: Partial<Data>,
  { precondition, include, check }: CheckedUpdateOptions<Row, Relation> = {},
): Promise<Row> {
  const update = async (within: Stores): Promise<Row> =>
    required(await storeOf(within).update(idOf(noun, id), changes, include), noun, id);
  if (precondition === undefined && check === undefined) return update(stores);
  return stores.transaction(async (within) => {
    const row = await lockById(storeOf(within), noun, id, precondition);
    check?.(row);
    return update(within);
  });
}

/** Deletes the row with this id, as `updateById` changes it. */
export async function deleteById<Row>(
  stores: Stores,
  { noun, storeOf }: RowKind<Pick<WriteStore<Row, never>, 'delete' | 'lock'>>,
  id: string,
  { precondition, check }: Omit<CheckedUpdateOptions<Row, never>, 'include'> = {},
): Promise<void> {
  const remove = async (within: Stores): Promise<void> => {
    const isDeleted = await storeOf(within).delete(idOf(noun, id));
    required(isDeleted ? true : undefined, noun, id);
  };
  if (precondition === undefined && check === undefined) return remove(stores);
  return stores.transaction(async (within) => {
    const row = await lockById(storeOf(within), noun, id, precondition);
    check?.(row);
    await remove(within);
  });
}

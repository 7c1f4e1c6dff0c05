import { DomainError, notFound } from './errors.ts';
import { idOf, parseId, type Id } from './id.ts';
import type { Include, ReadStore, UpdateOptions, WriteStore } from './store.ts';
import type { Stores } from './stores.ts';
import { versionOf } from './version.ts';

/** The store of a row, and its name in messages. */
export interface RowKind<Store> {
  readonly noun: string;
  readonly storeOf: (stores: Stores) => Store;
}

/** A kind of row that clients change. */
export interface VersionedKind<Row, Store> extends RowKind<Store> {
  /** The fields that its version covers. */
  readonly representation: (row: Row) => object;
  /** Locks what the version covers besides the row itself, before it. */
  readonly lockBefore?: (stores: Stores, id: Id) => Promise<unknown>;
}

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

/** The row with this id; throws NOT_FOUND when there is none. */
export async function getById<Row>(
  stores: Stores,
  { noun, storeOf }: RowKind<Pick<ReadStore<Row, never, never>, 'byIds'>>,
  id: string,
): Promise<Row> {
  const [row] = await findByIds(storeOf(stores), [id]);
  return required(row, noun, id);
}

/** The row with this id, locked until the transaction ends. Throws NOT_FOUND when there is none. */
export async function lockById<Row>(
  store: Pick<WriteStore<Row, never>, 'lock'>,
  noun: string,
  id: string,
): Promise<Row> {
  return required(await store.lock(idOf(noun, id)), noun, id);
}

/** The row; throws NOT_FOUND when there is none. */
export function required<Row>(row: Row | null | undefined, noun: string, id: string): Row {
  if (row === null || row === undefined) throw notFound(noun, id);
  return row;
}

interface CheckedUpdateOptions<Row, Relation extends string> extends UpdateOptions<Relation> {
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
  kind: VersionedKind<Row, Pick<WriteStore<Row, Data, Relation>, 'update' | 'lock'>>,
  id: string,
  changes: Partial<Data>,
  { include, ...conditions }: CheckedUpdateOptions<Row, Relation> = {},
): Promise<Row> {
  const { noun, storeOf } = kind;
  return onceItHolds(stores, kind, id, conditions, async (within, isLocked) =>
    required(await storeOf(within).update(idOf(noun, id), changes, include, { isLocked }), noun, id),
  );
}

/** Deletes the row with this id, as `updateById` changes it. */
export async function deleteById<Row>(
  stores: Stores,
  kind: VersionedKind<Row, Pick<WriteStore<Row, never>, 'delete' | 'lock'>>,
  id: string,
  conditions: RowConditions<Row> = {},
): Promise<void> {
  const { noun, storeOf } = kind;
  return onceItHolds(stores, kind, id, conditions, async (within) => {
    const isDeleted = await storeOf(within).delete(idOf(noun, id));
    required(isDeleted ? true : undefined, noun, id);
  });
}

type RowConditions<Row> = Omit<CheckedUpdateOptions<Row, never>, 'include'>;

/** Writes at once when there are no conditions, and otherwise in a transaction in which the locked row has met them. */
function onceItHolds<Row, Result>(
  stores: Stores,
  { noun, storeOf, representation, lockBefore }: VersionedKind<Row, Pick<WriteStore<Row, never>, 'lock'>>,
  id: string,
  { precondition, check }: RowConditions<Row>,
  write: (within: Stores, isLocked: boolean) => Promise<Result>,
): Promise<Result> {
  if (precondition === undefined && check === undefined) return write(stores, false);
  return stores.transaction(async (within) => {
    await lockBefore?.(within, idOf(noun, id));
    const row = await lockById(storeOf(within), noun, id);
    if (precondition?.(versionOf(representation(row))) === false) {
      throw new DomainError('PRECONDITION_FAILED', `The ${noun} ${id} is not in the state that the change expects.`);
    }
    check?.(row);
    return write(within, true);
  });
}

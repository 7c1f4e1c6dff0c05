import type { FilterOf } from './filter.ts';
import { type Id, parseId, readId } from './id.ts';
import type { Keyset, List, Slice, SortFieldOf } from './page.ts';
import type { Precondition } from './version.ts';
import { notFound } from './errors.ts';

/** Each method is one statement, however many ids. A related row that can't be read is an error in its place. */
export interface ReadStore<Row, Of extends List, Relation extends string = never> {
  /** The rows with these ids, in the order of the ids; undefined where there is none. */
  byIds(ids: readonly Id[], include?: Include<Relation>): Promise<(Row | undefined)[]>;
  page(
    filter: FilterOf<Of['filter']>,
    keyset: Keyset<SortFieldOf<Of>>,
    include?: Include<Relation>,
  ): Promise<Slice<Row>>;
  count(filter: FilterOf<Of['filter']>): Promise<number>;
  /** The same page for each parent, in the order of the parents; empty for one that doesn't exist. */
  pagePerParent(
    parents: Parents<Row>,
    filter: FilterOf<Of['filter']>,
    keyset: Keyset<SortFieldOf<Of>>,
    include?: Include<Relation>,
  ): Promise<Slice<Row>[]>;
  countPerParent(parents: Parents<Row>, filter: FilterOf<Of['filter']>): Promise<number[]>;
}

/** The rows that a property of others names, or that name those in a link: `tag.pets`. */
export interface Parents<Child> {
  readonly property: (keyof Child & string) | `${string}.${string}`;
  readonly ids: readonly Id[];
}

/** The store of a noun: that of a plain one has no more methods. */
export interface NounStore<Entity, Of extends List, Relations extends object = object>
  extends
    ReadStore<Entity & Partial<Relations>, Of, keyof Relations & string>,
    WriteStore<Entity & Partial<Relations>, RowData<Entity>, keyof Relations & string> {}

/** For what a row is locked. `deleteNow` fails where `delete` would wait, as by a deadlock. */
export type LockStrength = 'refer' | 'change' | 'delete' | 'deleteNow';

/**
 * Writing the rows of one kind. Every method is one statement, and those for locks that are sent with it.
 *
 * Rows that are returned with related rows are as they are after everything that the write has waited for, because
 * that is locked before.
 *
 * Throws `ForeignKeyViolation` when the row names another that doesn't exist, or is named by one.
 */
export interface WriteStore<Row, Data, Relation extends string = never> {
  insert(data: Data, include?: Include<Relation>): Promise<Row>;
  /** Undefined when there is no such row. A row that the transaction has locked needn't be locked again. */
  update(
    id: Id,
    changes: Partial<Data>,
    include?: Include<Relation>,
    options?: { readonly isLocked?: boolean },
  ): Promise<Row | undefined>;
  /** Locks the row until the transaction ends; undefined when there is none. */
  lock(id: Id): Promise<Row | undefined>;
  /** Locks those that exist, in the order of their ids, with the next statement of the transaction. */
  lockAll(ids: readonly Id[], strength: LockStrength): Promise<void>;
  /** False when there was no such row. */
  delete(id: Id): Promise<boolean>;
}

/** Each combination is a statement of its own: only what the caller is sure to need. */
export type Include<Relation extends string> = readonly Relation[];

/** All that the database doesn't generate. Nullable properties are optional. */
export type RowData<Row, Generated extends keyof Row = 'id' & keyof Row> = Readonly<
  {
    [Property in Exclude<keyof Row & string, Generated | Nullable<Row>>]-?: Exclude<Row[Property], undefined>;
  } & {
    [Property in Exclude<Nullable<Row> & string, Generated>]?: Exclude<Row[Property], undefined>;
  }
>;

type Nullable<Row> = { [Property in keyof Row]-?: null extends Row[Property] ? Property : never }[keyof Row];

/** A row names another that doesn't exist, or is still named by one. */
export class ForeignKeyViolation extends Error {
  override readonly name = 'ForeignKeyViolation';
  /** The property by which the row names the other one. */
  readonly property: string | undefined;

  constructor(property: string | undefined, cause?: Error) {
    super(cause?.message, { cause });
    this.property = property;
  }
}

/** Has PostgreSQL's own SQLSTATE 40001: an `atomic` transaction is done again, any other is UNAVAILABLE. */
export class SerializationFailure extends Error {
  override readonly name = 'SerializationFailure';
  readonly code = '40001';
}

export interface UpdateOptions<Relation extends string = never> {
  /** Checked on the locked row; when it fails, nothing is changed and PRECONDITION_FAILED is thrown. */
  readonly precondition?: Precondition;
  readonly include?: Include<Relation> | undefined;
}

/** The rows with these ids, in their order; null where there is none. */
export async function findByIds<Row, Relation extends string>(
  store: Pick<ReadStore<Row, never, Relation>, 'byIds'>,
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

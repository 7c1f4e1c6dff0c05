import { DomainError } from './errors.ts';
import type { FilterFields, FilterRequest } from './filter.ts';
import { readId, type Id } from './id.ts';
import { InputCheck } from './input.ts';
import { pageOf, parseListRequest, type ListOptions, type ListRequest, type Page, type Sorting } from './page.ts';
import { type ReferredId, throwIfRefused, writeReferring } from './reference.ts';
import {
  type ChildStore,
  existing,
  findByIds,
  ForeignKeyViolation,
  type Include,
  lockById,
  type NounStore,
  type ReadStore,
  type RowData,
  type UpdateOptions,
  type WriteStore,
} from './store.ts';
import type { Stores } from './stores.ts';
import { versionOf, type Precondition } from './version.ts';
import {
  parseChanges,
  parseNew,
  type ChangedOf,
  type ChangesOf,
  type CreatedOf,
  type NewOf,
  type WrittenFields,
} from './written-fields.ts';

/** What is particular to a noun. */
export interface NounKind<
  Row = never,
  SortField extends string = string,
  Fields extends FilterFields = FilterFields,
  Written extends WrittenFields = WrittenFields,
> {
  /** Its name in messages. */
  readonly noun: string;
  readonly entity: new () => object;
  /** The fields that clients see, in REST's form: the version covers them. */
  readonly representation: (row: Row) => object;
  /** The fields that clients write, with their rules. */
  readonly fields: Written;
  readonly filter: Fields;
  readonly sorting: Sorting<Row, SortField>;
  /** The message of the CONFLICT of a deletion while other rows name the row with this id. */
  readonly conflict?: (id: string) => string;
  /** Locks what the version covers besides the row itself, before it. */
  readonly lockBefore?: (stores: Stores, id: Id) => Promise<unknown>;
}

export type SortFieldOf<Kind extends NounKind> = keyof Kind['sorting']['keys'] & string;
type PlainStore<Kind extends NounKind> = NounStore<InstanceType<Kind['entity']>, Kind['filter'], SortFieldOf<Kind>>;
type RowIn<Store> = Store extends ReadStore<infer Row, never, never> ? Row : never;
type RelationIn<Store> = Store extends ReadStore<unknown, never, never, infer Relation> ? Relation : never;

type EntityData<Kind extends NounKind> = RowData<InstanceType<Kind['entity']>>;

/** What no kind is, unless its fields are those of its entity: so the compiler names what isn't. */
type Fitting<Written, Data> = Written extends Data ? unknown : { readonly fields: Data };

/** A change of a row, or its deletion. */
interface WriteOptions<Row, Relation extends string = never> extends UpdateOptions<Relation> {
  /** Checks the locked row after the precondition; throws when the rules don't allow it. */
  readonly check?: ((row: Row) => void) | undefined;
}

/**
 * What the services of all nouns do alike: reading, and checking what is written. They hold no state between two calls.
 *
 * The types follow from a noun's kind, and from its store where that has methods of its own.
 */
export abstract class NounService<
  Kind extends NounKind,
  Store = PlainStore<Kind>,
  Row = RowIn<Store>,
  Relation extends string = RelationIn<Store>,
  SortField extends string = SortFieldOf<Kind>,
  Fields extends FilterFields = Kind['filter'],
  Written extends WrittenFields = Kind['fields'],
> {
  protected abstract readonly kind: NounKind<Row, SortField, Fields, Written> &
    Fitting<ChangedOf<Kind['fields']>, Partial<EntityData<Kind>>>;
  protected readonly stores: Stores;

  constructor(stores: Stores) {
    this.stores = stores;
  }

  get store(): Store {
    return this.#in(this.stores) as object as Store;
  }

  /** Throws NOT_FOUND. */
  async get(id: string): Promise<Row> {
    const [row] = await this.findMany([id]);
    return existing(row, this.kind.noun, id);
  }

  findMany(ids: readonly string[], include?: Include<Relation>): Promise<(Row | null)[]> {
    return findByIds(this.#in(this.stores), ids, include);
  }

  async list(
    request: ListRequest<FilterRequest<Fields>, SortField>,
    { include, maxSize }: ListOptions<Relation> = {},
  ): Promise<Page<Row>> {
    const { filter, keyset } = this.parse(request, maxSize);
    return pageOf(this.kind.sorting, keyset, await this.#in(this.stores).page(filter, keyset, include));
  }

  async count(filter: FilterRequest<Fields> | null | undefined): Promise<number> {
    return this.#in(this.stores).count(this.parse({ filter }).filter);
  }

  /** The same page for each parent, in the order of the parents; only of a noun whose store is a `ChildStore`. */
  async listPerParent(
    parents: readonly Id[],
    request: ListRequest<FilterRequest<Fields>, SortField>,
    { include }: ListOptions<Relation> = {},
  ): Promise<Page<Row>[]> {
    const { filter, keyset } = this.parse(request);
    const slices = await this.#in(this.stores).pagePerParent(parents, filter, keyset, include);
    return slices.map((slice) => pageOf(this.kind.sorting, keyset, slice));
  }

  async countPerParent(parents: readonly Id[], filter: FilterRequest<Fields> | null | undefined): Promise<number[]> {
    return this.#in(this.stores).countPerParent(parents, this.parse({ filter }).filter);
  }

  /** Has a row of the input written. Throws VALIDATION_FAILED with every violation, rows that don't exist among them. */
  protected creation(input: NewOf<Written>, write: (row: CreatedOf<Written>) => Promise<Row>): Promise<Row> {
    const check = new InputCheck();
    return this.#referring(check, parseNew(this.kind.fields, check, input), write);
  }

  /**
   * Changes the row with this id: in one statement, or in a transaction when something about the row must hold first.
   *
   * Throws VALIDATION_FAILED as `creation` does, NOT_FOUND and PRECONDITION_FAILED.
   */
  protected change(
    id: string,
    changes: ChangesOf<Written>,
    { include, ...conditions }: WriteOptions<Row, Relation> = {},
  ): Promise<Row> {
    const { fields, noun } = this.kind;
    const check = new InputCheck();
    return this.#referring(check, parseChanges(fields, check, changes), (changed) =>
      this.#onceItHolds(id, conditions, async (store, isLocked) =>
        existing(await store.update(readId(noun, id), changed, include, { isLocked }), noun, id),
      ),
    );
  }

  /** Deletes the row with this id, as `change` changes it. Throws CONFLICT while other rows name it. */
  protected async deletion(id: string, conditions: WriteOptions<Row>): Promise<void> {
    const { noun, conflict } = this.kind;
    try {
      await this.#onceItHolds(id, conditions, async (store) => {
        const isDeleted = await store.delete(readId(noun, id));
        existing(isDeleted ? true : undefined, noun, id);
      });
    } catch (error) {
      const isNamed = error instanceof ForeignKeyViolation && conflict !== undefined;
      throw isNamed ? new DomainError('CONFLICT', conflict(id)) : error;
    }
  }

  protected parse(request: ListRequest<FilterRequest<Fields>, SortField>, maxSize?: number) {
    return parseListRequest(this.kind, request, maxSize);
  }

  async #referring<Data extends object>(
    check: InputCheck,
    data: Data,
    write: (data: Data) => Promise<Row>,
  ): Promise<Row> {
    const fields: WrittenFields = this.kind.fields;
    const referred: ReferredId[] = [];
    for (const name in fields) {
      const reference = fields[name]?.reference;
      const id = (data as Readonly<Record<string, Id | null>>)[name];
      if (reference !== undefined) referred.push({ field: name, reference, id });
    }
    await throwIfRefused(check, this.stores, referred);
    return writeReferring(this.stores, referred, () => write(data));
  }

  /** Writes at once when there are no conditions, and otherwise in a transaction in which the locked row has met them. */
  #onceItHolds<Result>(
    id: string,
    { precondition, check }: WriteOptions<Row>,
    write: (store: AnyStore<Row, Relation>, isLocked: boolean) => Promise<Result>,
  ): Promise<Result> {
    const { noun, representation, lockBefore } = this.kind;
    if (precondition === undefined && check === undefined) return write(this.#in(this.stores), false);
    return this.stores.transaction(async (within) => {
      const store = this.#in(within);
      await lockBefore?.(within, readId(noun, id));
      const row = await lockById(store, noun, id);
      if (precondition?.(versionOf(representation(row))) === false) {
        throw new DomainError('PRECONDITION_FAILED', `The ${noun} ${id} is not in the state that the change expects.`);
      }
      check?.(row);
      return write(store, true);
    });
  }

  /** The noun's store, as those of all nouns are. */
  #in(stores: Stores): AnyStore<Row, Relation> {
    const all = stores as object as Readonly<Record<string, AnyStore<Row, Relation>>>;
    return all[this.kind.sorting.kind] as AnyStore<Row, Relation>;
  }
}

type AnyStore<Row, Relation extends string> = ReadStore<Row, object, string, Relation> &
  WriteStore<Row, object, Relation> &
  ChildStore<Row, FilterFields, string, Readonly<Record<Relation, unknown>>>;

/** The service of a noun that clients create, change and delete without rules of its own. */
export abstract class PlainNounService<Kind extends NounKind, Store = PlainStore<Kind>> extends NounService<
  Kind,
  Store
> {
  protected abstract override readonly kind: NounService<Kind, Store>['kind'] &
    Fitting<CreatedOf<Kind['fields']>, EntityData<Kind>>;

  create(input: NewOf<Kind['fields']>, include?: Include<RelationIn<Store>>): Promise<RowIn<Store>> {
    const store = this.store as object as WriteStore<RowIn<Store>, object, RelationIn<Store>>;
    return this.creation(input, (row) => store.insert(row, include));
  }

  update(
    id: string,
    changes: ChangesOf<Kind['fields']>,
    options?: UpdateOptions<RelationIn<Store>>,
  ): Promise<RowIn<Store>> {
    return this.change(id, changes, options);
  }

  delete(id: string, precondition?: Precondition): Promise<void> {
    return this.deletion(id, { precondition });
  }
}

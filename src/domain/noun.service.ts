import { DomainError } from './errors.ts';
import type { FilterRequest } from './filter.ts';
import { readId, type Id } from './id.ts';
import { InputCheck } from './input.ts';
import type { Noun } from './nouns.ts';
import {
  pageOf,
  parseListRequest,
  type Keyset,
  type List,
  type ListOptions,
  type ListRequest,
  type Page,
  type Slice,
  type SortFieldOf,
} from './page.ts';
import { type ReferredId, throwIfRefused, writeReferring } from './reference.ts';
import {
  existing,
  findByIds,
  ForeignKeyViolation,
  type Include,
  lockById,
  type Parents,
  type ReadStore,
  type UpdateOptions,
  type WriteStore,
} from './store.ts';
import type { Stores } from './stores.ts';
import { meets, versionOf } from './version.ts';
import {
  parseChanges,
  parseNew,
  type ChangesOf,
  type CreatedOf,
  type NewOf,
  type WrittenFields,
} from './written-fields.ts';

export interface NounKind<Row = never> extends Noun<Row> {
  /** Its name in messages. */
  readonly noun: string;
  readonly fields: WrittenFields;
  /** The message of the CONFLICT of a deletion while other rows name the row with this id. */
  readonly conflict?: (id: string) => string;
  /** Locks what the version covers besides the row itself, before it. */
  readonly lockBefore?: (stores: Stores, id: Id) => Promise<unknown>;
}

/** The part of its store that a noun's service needs. */
type ServedStore<Row, Kind extends NounKind<Row>, Relation extends string> = ReadStore<Row, Kind, Relation> &
  Pick<WriteStore<Row, CreatedOf<Kind['fields']>, Relation>, 'update' | 'lock'>;

interface WriteOptions<Row, Relation extends string = never> extends UpdateOptions<Relation> {
  /** Checks the locked row after the precondition; throws when the rules don't allow it. */
  readonly check?: ((row: Row) => void) | undefined;
}

/** The base of all nouns' services, without state. A row is the entity, with the related rows read with it. */
export abstract class NounService<Row, Kind extends NounKind<Row>, Relation extends string = never> {
  abstract readonly kind: Kind & List<Row, SortFieldOf<Kind>>;
  protected readonly stores: Stores;

  constructor(stores: Stores) {
    this.stores = stores;
  }

  protected abstract storeIn(stores: Stores): ServedStore<Row, Kind, Relation>;

  /** Throws NOT_FOUND. */
  async get(id: string): Promise<Row> {
    const [row] = await this.findMany([id]);
    return existing(row, this.kind.noun, id);
  }

  findMany(ids: readonly string[], include?: Include<Relation>): Promise<(Row | null)[]> {
    return findByIds(this.storeIn(this.stores), ids, include);
  }

  async list(
    request: ListRequest<FilterRequest<Kind['filter']>, SortFieldOf<Kind>>,
    { include, maxSize }: ListOptions<Relation> = {},
  ): Promise<Page<Row>> {
    const { filter, keyset } = this.parse(request, maxSize);
    return this.pageOf(keyset, await this.storeIn(this.stores).page(filter, keyset, include));
  }

  async count(filter: FilterRequest<Kind['filter']> | null | undefined): Promise<number> {
    return this.storeIn(this.stores).count(this.parse({ filter }).filter);
  }

  /** The same page for each parent, in the order of the parents. */
  async listPerParent(
    parents: Parents<Row>,
    request: ListRequest<FilterRequest<Kind['filter']>, SortFieldOf<Kind>>,
    { include }: ListOptions<Relation> = {},
  ): Promise<Page<Row>[]> {
    const { filter, keyset } = this.parse(request);
    const slices = await this.storeIn(this.stores).pagePerParent(parents, filter, keyset, include);
    return slices.map((slice) => this.pageOf(keyset, slice));
  }

  async countPerParent(
    parents: Parents<Row>,
    filter: FilterRequest<Kind['filter']> | null | undefined,
  ): Promise<number[]> {
    return this.storeIn(this.stores).countPerParent(parents, this.parse({ filter }).filter);
  }

  /** Throws VALIDATION_FAILED with every violation, rows that don't exist among them. */
  protected creation(
    input: NewOf<Kind['fields']>,
    write: (row: CreatedOf<Kind['fields']>) => Promise<Row>,
  ): Promise<Row> {
    const check = new InputCheck();
    return this.#referring(check, parseNew(this.kind.fields, check, input), write);
  }

  /** Throws VALIDATION_FAILED as `creation` does, NOT_FOUND and PRECONDITION_FAILED. */
  protected change(
    id: string,
    changes: ChangesOf<Kind['fields']>,
    { include, ...conditions }: WriteOptions<Row, Relation> = {},
  ): Promise<Row> {
    const { fields, noun } = this.kind;
    const check = new InputCheck();
    return this.#referring(check, parseChanges(fields, check, changes), (changed) =>
      this.#onceItHolds(id, conditions, async (stores, isLocked) =>
        existing(await this.storeIn(stores).update(readId(noun, id), changed, include, { isLocked }), noun, id),
      ),
    );
  }

  /** Deletes the row with this id, as `change` changes it. Throws CONFLICT while other rows name it. */
  protected async deletion(
    id: string,
    conditions: WriteOptions<Row>,
    deleteIn: (stores: Stores, id: Id) => Promise<boolean>,
  ): Promise<void> {
    const { noun, conflict } = this.kind;
    try {
      await this.#onceItHolds(id, conditions, async (stores) => {
        const isDeleted = await deleteIn(stores, readId(noun, id));
        existing(isDeleted ? true : undefined, noun, id);
      });
    } catch (error) {
      const isNamed = error instanceof ForeignKeyViolation && conflict !== undefined;
      throw isNamed ? new DomainError('CONFLICT', conflict(id)) : error;
    }
  }

  protected parse(request: ListRequest<FilterRequest<Kind['filter']>, SortFieldOf<Kind>>, maxSize?: number) {
    return parseListRequest<Row, SortFieldOf<Kind>, Kind['filter']>(this.kind, request, maxSize);
  }

  protected pageOf(keyset: Keyset<SortFieldOf<Kind>>, slice: Slice<Row>): Page<Row> {
    return pageOf<Row, SortFieldOf<Kind>>(this.kind.sorting, keyset, slice);
  }

  async #referring<Data extends object>(
    check: InputCheck,
    data: Data,
    write: (data: Data) => Promise<Row>,
  ): Promise<Row> {
    const { fields } = this.kind;
    const referred: ReferredId[] = [];
    for (const name in fields) {
      const reference = fields[name]?.reference;
      const id = (data as Readonly<Record<string, Id | null>>)[name];
      if (reference !== undefined) referred.push({ field: name, reference, id });
    }
    await throwIfRefused(check, this.stores, referred);
    return writeReferring(this.stores, referred, () => write(data));
  }

  #onceItHolds<Result>(
    id: string,
    { precondition, check }: WriteOptions<Row>,
    write: (stores: Stores, isLocked: boolean) => Promise<Result>,
  ): Promise<Result> {
    const { noun, representation, lockBefore } = this.kind;
    if ((precondition ?? check) === undefined) return write(this.stores, false);
    return this.stores.transaction(async (within) => {
      await lockBefore?.(within, readId(noun, id));
      const row = await lockById(this.storeIn(within), noun, id);
      if (!meets(precondition, () => versionOf(representation(row)))) {
        throw new DomainError('PRECONDITION_FAILED', `The ${noun} ${id} is not in the state that the change expects.`);
      }
      check?.(row);
      return write(within, true);
    });
  }
}

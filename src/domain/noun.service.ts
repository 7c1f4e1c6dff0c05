import { DomainError } from './errors.ts';
import { parseFilter, type FilterFields, type FilterOf, type FilterRequest } from './filter.ts';
import type { Id } from './id.ts';
import { InputCheck } from './input.ts';
import {
  pageOf,
  parseListRequest,
  type Keyset,
  type ListOptions,
  type ListRequest,
  type Page,
  type Slice,
  type Sorting,
} from './page.ts';
import { throwIfRefused, writeReferring } from './reference.ts';
import { deleteById, findByIds, getById, type VersionedKind } from './rows.ts';
import { ForeignKeyViolation, type Include, type ReadStore, type WriteStore } from './store.ts';
import type { Stores } from './stores.ts';
import type { Precondition } from './version.ts';
import {
  parseChanges,
  parseNew,
  type ChangedOf,
  type ChangesOf,
  type CreatedOf,
  type NewOf,
  type WrittenFields,
} from './written-fields.ts';

/** What the service of a noun knows of it. */
interface NounKind<Row, Store, Fields extends FilterFields, SortField extends string> extends VersionedKind<
  Row,
  Store
> {
  readonly sorting: Sorting<Row, SortField>;
  readonly filter: Fields;
}

/** What the services of all nouns do alike: reading, and checking what is written. They hold no state between two calls. */
export abstract class NounService<
  Row,
  Store extends ReadStore<Row, FilterOf<Fields>, SortField, Relation>,
  Fields extends FilterFields,
  SortField extends string,
  Relation extends string = never,
> {
  protected abstract readonly kind: NounKind<Row, Store, Fields, SortField>;
  protected readonly stores: Stores;

  constructor(stores: Stores) {
    this.stores = stores;
  }

  get store(): Store {
    return this.kind.storeOf(this.stores);
  }

  /** Throws NOT_FOUND. */
  get(id: string): Promise<Row> {
    return getById(this.stores, this.kind, id);
  }

  findMany(ids: readonly string[], include?: Include<Relation>): Promise<(Row | null)[]> {
    return findByIds(this.store, ids, include);
  }

  async list(
    request: ListRequest<FilterRequest<Fields>, SortField>,
    { include, maxSize }: ListOptions<Relation> = {},
  ): Promise<Page<Row>> {
    const { filter, keyset } = this.parse(request, maxSize);
    return pageOf(this.kind.sorting, keyset, await this.store.page(filter, keyset, include));
  }

  async count(filter: FilterRequest<Fields> | null | undefined): Promise<number> {
    return this.store.count(this.parse({ filter }).filter);
  }

  /** The same page for each parent, read by the store. */
  protected async listPer(
    request: ListRequest<FilterRequest<Fields>, SortField>,
    read: (filter: FilterOf<Fields>, keyset: Keyset<SortField>) => Promise<Slice<Row>[]>,
  ): Promise<Page<Row>[]> {
    const { filter, keyset } = this.parse(request);
    return (await read(filter, keyset)).map((slice) => pageOf(this.kind.sorting, keyset, slice));
  }

  /** Has a row of the input written. Throws VALIDATION_FAILED with every violation, rows that don't exist among them. */
  protected creation<Written extends WrittenFields>(
    fields: Written,
    input: NewOf<Written>,
    write: (row: CreatedOf<Written>) => Promise<Row>,
  ): Promise<Row> {
    const check = new InputCheck();
    return this.#referring(check, fields, parseNew(fields, check, input), write);
  }

  /** The same for a change. */
  protected change<Written extends WrittenFields>(
    fields: Written,
    changes: ChangesOf<Written>,
    write: (changes: ChangedOf<Written>) => Promise<Row>,
  ): Promise<Row> {
    const check = new InputCheck();
    return this.#referring(check, fields, parseChanges(fields, check, changes), write);
  }

  async #referring<Data extends object>(
    check: InputCheck,
    fields: WrittenFields,
    data: Data,
    write: (data: Data) => Promise<Row>,
  ): Promise<Row> {
    const referred = Object.entries(fields).flatMap(([name, { reference }]) =>
      reference === undefined ? [] : [[reference, (data as Readonly<Record<string, Id | null>>)[name]] as const],
    );
    await throwIfRefused(check, this.stores, referred);
    return writeReferring(this.stores, referred, () => write(data));
  }

  protected parse(request: ListRequest<FilterRequest<Fields>, SortField>, maxSize?: number) {
    const { sorting, filter } = this.kind;
    return parseListRequest(sorting, request, (check, input) => parseFilter(filter, check, input), maxSize);
  }
}

/** Deletes the row with this id. Throws NOT_FOUND, PRECONDITION_FAILED, and CONFLICT while other rows name it. */
export async function deleteUnlessNamed<Row>(
  stores: Stores,
  kind: VersionedKind<Row, Pick<WriteStore<Row, never>, 'delete' | 'lock'>>,
  id: string,
  precondition: Precondition | undefined,
  conflict: string,
): Promise<void> {
  try {
    await deleteById(stores, kind, id, { precondition });
  } catch (error) {
    throw error instanceof ForeignKeyViolation ? new DomainError('CONFLICT', conflict) : error;
  }
}

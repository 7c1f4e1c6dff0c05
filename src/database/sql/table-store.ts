import type { FilterOf } from '../../domain/filter.ts';
import type { Id } from '../../domain/id.ts';
import type { Keyset, List, Slice, SortFieldOf } from '../../domain/page.ts';
import type { Include, LockStrength, NounStore, Parents, ReadStore, RowData } from '../../domain/store.ts';
import type { Session } from '../../platform/postgres/index.ts';
import type { TableReads } from './table-reads.ts';
import type { TableWrites } from './table-writes.ts';

export class ReadOnlyStore<Row, Of extends List<Row>, Relation extends string = never> implements ReadStore<
  Row,
  Of,
  Relation
> {
  protected readonly session: Session;
  protected readonly reads: TableReads<Row, Of, Relation>;

  constructor(session: Session, reads: TableReads<Row, Of, Relation>) {
    this.session = session;
    this.reads = reads;
  }

  byIds(ids: readonly Id[], include?: Include<Relation>): Promise<(Row | undefined)[]> {
    return this.reads.byIds(this.session, ids, include);
  }

  page(
    filter: FilterOf<Of['filter']>,
    keyset: Keyset<SortFieldOf<Of>>,
    include?: Include<Relation>,
  ): Promise<Slice<Row>> {
    return this.listsOf(filter).page(this.session, filter, keyset, include);
  }

  count(filter: FilterOf<Of['filter']>): Promise<number> {
    return this.reads.count(this.session, filter);
  }

  pagePerParent(
    parents: Parents<Row>,
    filter: FilterOf<Of['filter']>,
    keyset: Keyset<SortFieldOf<Of>>,
    include?: Include<Relation>,
  ): Promise<Slice<Row>[]> {
    return this.listsOf(filter).pagePerParent(this.session, parents, filter, keyset, include);
  }

  countPerParent(parents: Parents<Row>, filter: FilterOf<Of['filter']>): Promise<number[]> {
    return this.listsOf(filter).countPerParent(this.session, parents, filter);
  }

  /** The reads that serve lists with this filter. */
  protected listsOf(_filter: FilterOf<Of['filter']>): TableReads<Row, Of, Relation> {
    return this.reads;
  }
}

/** The same with writes: the store of a noun. */
export class TableStore<
  Entity extends object,
  Of extends List<Entity & Partial<Relations>>,
  Relations extends object = object,
>
  extends ReadOnlyStore<Entity & Partial<Relations>, Of, keyof Relations & string>
  implements NounStore<Entity, Of, Relations>
{
  protected readonly writes: TableWrites<Entity & Partial<Relations>, RowData<Entity>, keyof Relations & string>;

  constructor(
    session: Session,
    reads: TableReads<Entity & Partial<Relations>, Of, keyof Relations & string>,
    writes: TableWrites<Entity & Partial<Relations>, RowData<Entity>, keyof Relations & string>,
  ) {
    super(session, reads);
    this.writes = writes;
  }

  insert(data: RowData<Entity>, include?: Include<keyof Relations & string>): Promise<Entity & Partial<Relations>> {
    return this.writes.insert(this.session, data, include);
  }

  update(
    id: Id,
    changes: Partial<RowData<Entity>>,
    include?: Include<keyof Relations & string>,
    options?: { readonly isLocked?: boolean },
  ): Promise<(Entity & Partial<Relations>) | undefined> {
    return this.writes.update(this.session, id, changes, include, options);
  }

  lock(id: Id): Promise<(Entity & Partial<Relations>) | undefined> {
    return this.writes.lock(this.session, id);
  }

  lockAll(ids: readonly Id[], strength: LockStrength): Promise<void> {
    return this.writes.lockAll(this.session, ids, strength);
  }

  delete(id: Id): Promise<boolean> {
    return this.writes.delete(this.session, id);
  }
}

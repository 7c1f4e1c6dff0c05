import type { Id } from '../../domain/id.ts';
import type { Keyset, Slice } from '../../domain/page.ts';
import type { Include, LockStrength, ReadStore, WriteStore } from '../../domain/store.ts';
import type { Session } from '../../platform/postgres/index.ts';
import type { TableReads } from './table-reads.ts';
import type { TableWrites } from './table-writes.ts';

/** What the store of one kind of row has in common with the others: statements that are made once, in one session. */
export class TableStore<
  Row,
  Written extends object,
  Data extends object,
  Filter,
  SortField extends string,
  Relation extends string = never,
>
  implements ReadStore<Row, Filter, SortField, Relation>, WriteStore<Written, Data, Relation>
{
  protected readonly session: Session;
  protected readonly reads: TableReads<Row, Filter, SortField, Relation>;
  protected readonly writes: TableWrites<Written, Data, Relation>;

  constructor(
    session: Session,
    reads: TableReads<Row, Filter, SortField, Relation>,
    writes: TableWrites<Written, Data, Relation>,
  ) {
    this.session = session;
    this.reads = reads;
    this.writes = writes;
  }

  byIds(ids: readonly Id[], include?: Include<Relation>): Promise<(Row | undefined)[]> {
    return this.reads.byIds(this.session, ids, include);
  }

  page(filter: Filter, keyset: Keyset<SortField>, include?: Include<Relation>): Promise<Slice<Row>> {
    return this.reads.page(this.session, filter, keyset, include);
  }

  count(filter: Filter): Promise<number> {
    return this.reads.count(this.session, filter);
  }

  /** See `ChildStore`. */
  pagePerParent(
    parents: readonly Id[],
    filter: Filter,
    keyset: Keyset<SortField>,
    include?: Include<Relation>,
  ): Promise<Slice<Row>[]> {
    return this.reads.pagePerParent(this.session, parents, filter, keyset, include);
  }

  countPerParent(parents: readonly Id[], filter: Filter): Promise<number[]> {
    return this.reads.countPerParent(this.session, parents, filter);
  }

  insert(data: Data, include?: Include<Relation>): Promise<Written> {
    return this.writes.insert(this.session, data, include);
  }

  update(
    id: Id,
    changes: Partial<Data>,
    include?: Include<Relation>,
    options?: { readonly isLocked?: boolean },
  ): Promise<Written | undefined> {
    return this.writes.update(this.session, id, changes, include, options);
  }

  lock(id: Id): Promise<Written | undefined> {
    return this.writes.lock(this.session, id);
  }

  lockAll(ids: readonly Id[], strength: LockStrength): Promise<void> {
    return this.writes.lockAll(this.session, ids, strength);
  }

  delete(id: Id): Promise<boolean> {
    return this.writes.delete(this.session, id);
  }
}

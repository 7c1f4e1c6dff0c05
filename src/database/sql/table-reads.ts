import { LruMap } from '../../domain/lru-map.ts';
import type { Id } from '../../domain/id.ts';
import { maxBatchSize, maxPageSize, type Keyset, type Slice, type Sorting } from '../../domain/page.ts';
import type { Include } from '../../domain/store.ts';
import type { Condition, Conditions } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';
import { pageShape, pageText, pageValues, type SortColumn } from './keyset-page.ts';
import { selectionOf, type Relation, type Selection } from './selection.ts';
import {
  FixedStatement,
  type LookUp,
  nameOf,
  type Query,
  type Session,
  Statement,
  type StatementText,
} from '../../postgres/statement.ts';

/** The SQL source of one kind of row. */
export interface Source<Row, Filter, SortField extends string, RelationName extends string = never> {
  readonly sorting: Sorting<Row, SortField>;
  readonly table: EntityTable<never>;
  readonly relations: Readonly<Record<RelationName, Relation>>;
  /** The table, or a join that begins with it. */
  readonly from: string;
  /** The column of the id. */
  readonly id: string;
  /** The columns of each order; the last one is the id. An index has them in this order. */
  readonly by: Readonly<Record<SortField, readonly SortColumn[]>>;
  /** The foreign key to the parent, where there is one. */
  readonly parent?: string;
  /** `isPerParent`: beside the condition that a row belongs to its parent. */
  readonly conditions: (filter: Filter, isPerParent: boolean) => Conditions;
}

/**
 * Reads the rows of one kind in pages, by id or by parent: each method is one statement in the session. Its texts are
 * made once.
 */
export class TableReads<Row, Filter, SortField extends string, RelationName extends string = never> {
  readonly #source: Source<Row, Filter, SortField, RelationName>;
  readonly #shapes: Shapes<Row>;
  readonly #pages = new LruMap<string, { readonly shape: PageShape<Row> | undefined }>(rememberedShapes);

  constructor(source: Source<Row, Filter, SortField, RelationName>) {
    this.#source = source;
    this.#shapes = shapesOf(source);
  }

  /** The usual case of one id needs no map. */
  byIds(session: Session, ids: readonly Id[], include: Include<RelationName> = []): Promise<(Row | undefined)[]> {
    if (ids.length > 1) return this.#byManyIds(session, ids, include);
    if (ids.length === 0) return Promise.resolve([]);
    return session.lookUp(this.#shapes(include).lookUp, ids[0] as Id).then((row) => [row]);
  }

  async page(
    session: Session,
    filter: Filter,
    keyset: Keyset<SortField>,
    include: Include<RelationName> = [],
  ): Promise<Slice<Row>> {
    const conditions = this.#source.conditions(filter, false);
    if (conditions === undefined || keyset.isUnread) return nothing;
    const shape = this.#pageShape(conditions, keyset, include, false);
    if (shape === undefined) return nothing;
    if (keyset.maxBytes === undefined) {
      return cut(await session.run(this.#pageQuery(shape, conditions, keyset, shape.decode)), keyset);
    }
    const decode = (fields: readonly (string | null)[]): Found<Row> => ({
      found: Number(fields.at(-1)),
      row: shape.decode(fields),
    });
    const rows = await session.run(this.#pageQuery(shape, conditions, keyset, decode));
    const slice = cut(
      rows.map(({ row }) => row),
      keyset,
    );
    return { ...slice, hasMore: (rows[0]?.found ?? 0) > slice.rows.length };
  }

  /** The same page for each parent, in the order of the parents; empty for one that doesn't exist. */
  async pagePerParent(
    session: Session,
    parentIds: readonly Id[],
    filter: Filter,
    keyset: Keyset<SortField>,
    include: Include<RelationName> = [],
  ): Promise<Slice<Row>[]> {
    const conditions = this.#source.conditions(filter, true);
    if (conditions === undefined || keyset.isUnread || parentIds.length === 0) return parentIds.map(() => nothing);
    const shape = this.#pageShape(conditions, keyset, include, true);
    if (shape === undefined) return parentIds.map(() => nothing);
    const decode = (fields: readonly (string | null)[]): Child<Row> => ({
      parent: Number(fields.at(-1)),
      row: shape.decode(fields),
    });
    const children = await session.run(this.#pageQuery(shape, conditions, keyset, decode, parentIds));
    const perParent: Row[][] = parentIds.map(() => []);
    for (const { parent, row } of children) perParent[parent - 1]?.push(row);
    return perParent.map((rows) => cut(rows, keyset));
  }

  async count(session: Session, filter: Filter): Promise<number> {
    const conditions = this.#source.conditions(filter, false);
    if (conditions === undefined) return 0;
    const statement = new Statement();
    const text = `select count(*) from ${this.#source.from} ${where(conditions, statement)}`;
    const [count = 0] = await session.run(statement.planned(text, ([value]) => Number(value)));
    return count;
  }

  async countPerParent(session: Session, parentIds: readonly Id[], filter: Filter): Promise<number[]> {
    const conditions = this.#source.conditions(filter, true);
    if (conditions === undefined || parentIds.length === 0) return parentIds.map(() => 0);
    const { from, parent } = this.#source;
    const statement = new Statement();
    const isChild = `${parent} = any(${statement.bind(parentIds, 'bigint[]')})`;
    const text = `select ${parent}, count(*) from ${from} ${where(conditions, statement, isChild)} group by 1`;
    const counts = new Map(await session.run(statement.planned(text, countOfParent)));
    return parentIds.map((id) => counts.get(id) ?? 0);
  }

  async #byManyIds(session: Session, ids: readonly Id[], include: Include<RelationName>): Promise<(Row | undefined)[]> {
    const { idOf } = this.#source.sorting;
    const rows = await session.run(
      this.#shapes(include).byAnyId.with([ids], ids.length > maxSharedRows ? 'slow' : 'short'),
    );
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((each) => byId.get(each));
  }

  #pageShape(
    conditions: readonly Condition[],
    keyset: Keyset<SortField>,
    include: Include<RelationName>,
    isPerParent: boolean,
  ): PageShape<Row> | undefined {
    const maxRows = keyset.limit > maxPageSize ? maxBatchSize : maxPageSize;
    const key = `${maxRows} ${isPerParent} ${include.join()} ${pageShape(keyset, conditions)}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known.shape;
    const { by, from, parent, sorting } = this.#source;
    const { selection } = this.#shapes(include);
    const page = pageText(
      {
        columns: selection.columns,
        texts: selection.texts,
        from: `${from} ${selection.joins}`,
        parent: isPerParent ? parent : undefined,
        conditions,
        by: by[keyset.sort.field],
        type: sorting.keys[keyset.sort.field]?.type,
        maxRows,
      },
      keyset,
    );
    const shape = page && {
      ...page,
      name: isPrepared(conditions, keyset) ? nameOf(page.sql) : undefined,
      decode: selection.decode,
    };
    this.#pages.set(key, { shape });
    return shape;
  }

  #pageQuery<Result>(
    { name, sql, text }: PageShape<Row>,
    conditions: readonly Condition[],
    keyset: Keyset<SortField>,
    decode: Query<Result>['decode'],
    parents?: readonly Id[],
  ): Query<Result> {
    const type = this.#source.sorting.keys[keyset.sort.field]?.type;
    const values = text.parametersOf(pageValues({ type, conditions }, keyset, parents));
    const choices = conditions.reduce((product, { choice }) => product * (choice?.count ?? 1), 1);
    const walks = choices * (parents?.length ?? 1);
    const isLong =
      walks > maxSharedWalks ||
      (keyset.limit + 1) * walks > maxSharedRows ||
      conditions.some(({ isFilter }) => isFilter);
    return { name, text: sql, values, decode, kind: name === undefined || isLong ? 'slow' : 'short' };
  }
}

/** A row of a page that ends by its bytes, and how many rows there were for the page, and one more. */
interface Found<Row> {
  readonly found: number;
  readonly row: Row;
}

/** A row of the page of one of several parents, and the place of that parent among them, from 1. */
interface Child<Row> {
  readonly parent: number;
  readonly row: Row;
}

/** A statement that may read more rows than this is slow. */
const maxSharedRows = 2_000;
/** So is one that walks along an index more often. */
const maxSharedWalks = 200;

/** More than the shapes in use: unprepared ones are as many as the combinations of filter, order and direction. */
const rememberedShapes = 1_000;

interface PageShape<Row> {
  /** Undefined when it isn't prepared. */
  readonly name: string | undefined;
  readonly sql: string;
  readonly text: StatementText;
  readonly decode: (fields: readonly (string | null)[]) => Row;
}

/**
 * Prepares only forward pages with a generic plan: each text takes memory on each connection, so there must be few.
 * (All pages of all kinds of rows, with all their filters, orders and related rows: about 500.)
 */
function isPrepared(conditions: readonly Condition[], { takeLast, before }: Keyset<string>): boolean {
  return !takeLast && before === undefined && !conditions.some(({ needsOwnPlan }) => needsOwnPlan);
}

interface Shape<Row> {
  readonly selection: Selection<Row>;
  readonly lookUp: LookUp<Row>;
  readonly byAnyId: FixedStatement<Row>;
}

type ShapeSource<Row> = Pick<Source<never, never, never>, 'table' | 'from' | 'id'> & {
  readonly relations: Readonly<Record<string, Relation>>;
  readonly sorting: Pick<Sorting<Row, never>, 'idOf'>;
};

/** One for each combination of related rows: as many as the schema has. */
type Shapes<Row> = (include: readonly string[]) => Shape<Row>;

function shapesOf<Row>({ table, relations, from, id, sorting: { idOf } }: ShapeSource<Row>): Shapes<Row> {
  const shapes = new Map<string, Shape<Row>>();
  return (include) => {
    const key = include.join();
    let shape = shapes.get(key);
    if (shape === undefined) {
      // Whatever the order in which the caller names them.
      const names = Object.keys(relations).filter((name) => include.includes(name));
      const selection = selectionOf<Row>(table, relations, names);
      const rows = `select ${selection.columns} from ${from} ${selection.joins} where ${id} =`;
      const byId = new FixedStatement(`${rows} $1::bigint`, selection.decode);
      const byAnyId = new FixedStatement(`${rows} any($1::bigint[])`, selection.decode);
      const lookUp: LookUp<Row> = { readOne: (one) => byId.with([one]), readMany: (ids) => byAnyId.with([ids]), idOf };
      shape = { selection, lookUp, byAnyId };
      shapes.set(key, shape);
    }
    return shape;
  };
}

function countOfParent([id, count]: readonly (string | null)[]): [id: string, count: number] {
  return [String(id), Number(count)];
}

const nothing = { rows: [], hasMore: false } as const;

function where(conditions: readonly Condition[], { bind }: Statement, ...tests: string[]): string {
  const all = [...tests, ...conditions.map(({ sql, value }) => sql((type) => bind(value, type)))];
  return all.length === 0 ? '' : `where ${all.join(' and ')}`;
}

function cut<Row>(rows: readonly Row[], { limit, takeLast }: Keyset<string>): Slice<Row> {
  const page = rows.slice(0, limit);
  return { rows: takeLast ? page.toReversed() : page, hasMore: rows.length > limit };
}

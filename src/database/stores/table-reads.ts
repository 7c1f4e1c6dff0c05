import type { Id } from '../../domain/id.ts';
import { maxPageSize, type Keyset, type Slice, type Sorting } from '../../domain/page.ts';
import type { Include, ReadStore } from '../../domain/store.ts';
import type { Condition, Conditions } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';
import { keysetPage, type SortColumn } from './keyset-page.ts';
import { selectionOf, type Relation, type Selection } from './selection.ts';
import type { Query, Session } from './session.ts';
import { FixedStatement, Statement } from './statement.ts';

/** Where the rows of one kind come from, in SQL. */
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
  readonly conditions: (filter: Filter) => Conditions;
}

/** Reads the rows of one kind in pages, by id or by parent: each method is one statement. */
export class TableReads<
  Row,
  Filter,
  SortField extends string,
  RelationName extends string = never,
> implements ReadStore<Row, Filter, SortField, RelationName> {
  readonly #source: Source<Row, Filter, SortField, RelationName>;
  readonly #session: Session;
  readonly #shapes: Shapes<Row>;

  constructor(source: Source<Row, Filter, SortField, RelationName>, session: Session) {
    this.#source = source;
    this.#session = session;
    this.#shapes = shapesOf(source);
  }

  /** Most often it is one id: that needs no map, and no more than two promises. */
  byIds(ids: readonly Id[], include: Include<RelationName> = []): Promise<(Row | undefined)[]> {
    if (ids.length > 1) return this.#byManyIds(ids, include);
    if (ids.length === 0) return Promise.resolve([]);
    return this.#session.run(this.#shapes(include).byId.with(ids)).then(([row]) => [row]);
  }

  async page(filter: Filter, keyset: Keyset<SortField>, include: Include<RelationName> = []): Promise<Slice<Row>> {
    const conditions = this.#source.conditions(filter);
    if (conditions === undefined) return nothing;
    const statement = new Statement();
    const { selection } = this.#shapes(include);
    const text = this.#page(conditions, keyset, statement, selection);
    if (text === undefined) return nothing;
    return cut(await this.#session.run(queryFor(statement, text, selection.decode, conditions, keyset)), keyset);
  }

  /** The same page for each parent, in the order of the parents; empty for one that doesn't exist. */
  async pagePerParent(
    parentIds: readonly Id[],
    filter: Filter,
    keyset: Keyset<SortField>,
    include: Include<RelationName> = [],
  ): Promise<Slice<Row>[]> {
    const conditions = this.#source.conditions(filter);
    if (conditions === undefined || parentIds.length === 0) return parentIds.map(() => nothing);
    const statement = new Statement();
    const parents = statement.bind(parentIds, 'bigint[]');
    const ofParent: Condition = { sql: () => `${this.#source.parent} = parents.id` };
    const { selection } = this.#shapes(include);
    const page = this.#page([ofParent, ...conditions], keyset, statement, selection);
    if (page === undefined) return parentIds.map(() => nothing);
    const text = `select page.*, parents.index from unnest(${parents}) with ordinality as parents (id, index)
       cross join lateral (${page}) as page`;
    const perParent: Row[][] = parentIds.map(() => []);
    const decode = (fields: readonly unknown[]): void => {
      perParent[Number(fields.at(-1)) - 1]?.push(selection.decode(fields));
    };
    await this.#session.run(queryFor(statement, text, decode, conditions, keyset));
    return perParent.map((rows) => cut(rows, keyset));
  }

  async count(filter: Filter): Promise<number> {
    const conditions = this.#source.conditions(filter);
    if (conditions === undefined) return 0;
    const statement = new Statement();
    const text = `select count(*) from ${this.#source.from} ${where(conditions, statement)}`;
    const [count = 0] = await this.#session.run(statement.planned(text, ([value]) => Number(value)));
    return count;
  }

  async countPerParent(parentIds: readonly Id[], filter: Filter): Promise<number[]> {
    const conditions = this.#source.conditions(filter);
    if (conditions === undefined || parentIds.length === 0) return parentIds.map(() => 0);
    const { from, parent } = this.#source;
    const statement = new Statement();
    const ofParents: Condition = { sql: (bind) => `${parent} = any(${bind(parentIds, 'bigint[]')})` };
    const text = `select ${parent}, count(*) from ${from} ${where([ofParents, ...conditions], statement)} group by 1`;
    const counts = new Map(await this.#session.run(statement.planned(text, countOfParent)));
    return parentIds.map((id) => counts.get(id) ?? 0);
  }

  async #byManyIds(ids: readonly Id[], include: Include<RelationName>): Promise<(Row | undefined)[]> {
    const { idOf } = this.#source.sorting;
    const rows = await this.#session.run(this.#shapes(include).byAnyId.with([ids]));
    const byId = new Map(rows.map((row) => [idOf(row), row]));
    return ids.map((each) => byId.get(each));
  }

  #page(
    conditions: readonly Condition[],
    keyset: Keyset<SortField>,
    statement: Statement,
    { columns, joins }: Selection<Row>,
  ): string | undefined {
    const { by, from, sorting } = this.#source;
    const { field } = keyset.sort;
    const type = sorting.keys[field]?.type;
    return keysetPage({ columns, from: `${from} ${joins}`, conditions, by: by[field], type }, keyset, statement);
  }
}

interface Shape<Row> {
  readonly selection: Selection<Row>;
  readonly byId: FixedStatement<Row>;
  readonly byAnyId: FixedStatement<Row>;
}

type ShapeSource = Pick<Source<never, never, never>, 'table' | 'from' | 'id'> & {
  readonly relations: Readonly<Record<string, Relation>>;
};

/** One for each combination of related rows: as many as the schema has. */
type Shapes<Row> = (include: readonly string[]) => Shape<Row>;

function shapesOf<Row>({ table, relations, from, id }: ShapeSource): Shapes<Row> {
  const shapes = new Map<string, Shape<Row>>();
  return (include) => {
    const key = include.join();
    let shape = shapes.get(key);
    if (shape === undefined) {
      // Whatever the order in which the caller names them.
      const names = Object.keys(relations).filter((name) => include.includes(name));
      const selection = selectionOf<Row>(table, relations, names);
      const rows = `select ${selection.columns} from ${from} ${selection.joins} where ${id} =`;
      shape = {
        selection,
        byId: new FixedStatement(`${rows} $1::bigint`, selection.decode),
        byAnyId: new FixedStatement(`${rows} any($1::bigint[])`, selection.decode),
      };
      shapes.set(key, shape);
    }
    return shape;
  };
}

function countOfParent([id, count]: readonly unknown[]): [id: string, count: number] {
  return [String(id), Number(count)];
}

const nothing = { rows: [], hasMore: false } as const;

/** Prepared, if it is short and good for any value. */
function queryFor<Row>(
  statement: Statement,
  text: string,
  decode: Query<Row>['decode'],
  conditions: readonly Condition[],
  { limit }: Keyset<string>,
): Query<Row> {
  const isShort = limit <= maxPageSize && !conditions.some(({ needsOwnPlan }) => needsOwnPlan);
  return isShort ? statement.prepared(text, decode) : statement.planned(text, decode);
}

function where(conditions: readonly Condition[], { bind }: Statement): string {
  return conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql(bind)).join(' and ')}`;
}

function cut<Row>(rows: readonly Row[], { limit, takeLast }: Keyset<string>): Slice<Row> {
  const kept = rows.slice(0, limit);
  return { rows: takeLast ? kept.toReversed() : kept, hasMore: rows.length > limit };
}

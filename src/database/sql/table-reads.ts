import { LruMap } from '../../platform/lru-map.ts';
import type { Id } from '../../domain/id.ts';
import type { FilterOf } from '../../domain/filter.ts';
import { maxBatchSize, maxPageSize, type Keyset, type List, type Slice, type SortFieldOf } from '../../domain/page.ts';
import type { Include, Parents } from '../../domain/store.ts';
import {
  type LookUp,
  lookUpOf,
  rowsById,
  type Session,
  slow,
  type Statement,
  statementOf,
  unprepared,
  UnreadableRow,
} from '../../platform/postgres/index.ts';
import { Placeholders, type Condition, type Conditions } from './conditions.ts';
import type { EntityTable } from './entity-table.ts';
import { isPrepared, pageTemplate, pageText, pageValues, type SortColumn } from './keyset-page.ts';
import { domainFailureOf } from '../domain-failure.ts';
import { selectionOf, type Relation, type Selection } from './selection.ts';
import { lockOf } from './table-lock.ts';
import { defaultMaxWalked, isFilter, WalkedReads } from './walked-reads.ts';

export interface Source<Of extends List, RelationName extends string = never> {
  readonly list: Of;
  readonly table: EntityTable;
  readonly relations: Readonly<Record<RelationName, Relation>>;
  /** The table, or a join that begins with it. */
  readonly from: string;
  /** The columns of each order; the last one is the id. An index has them in this order. */
  readonly by: Readonly<Record<SortFieldOf<Of>, readonly SortColumn[]>>;
  /** `isPerParent`: rows are read of certain parents only. */
  readonly conditions: (filter: FilterOf<Of['filter']>, isPerParent: boolean) => Conditions;
  /** How many rows of other tables a walk looks up for each of its own; none if undefined. */
  readonly lookUpsPerRow?: number;
}

/** Each method is one statement, and a lock before it where that may be slow. Its texts are made once. */
export class TableReads<Row, Of extends List<Row>, RelationName extends string = never> {
  readonly #source: Source<Of, RelationName>;
  /** One for each combination of related rows: as many as the schema has. */
  readonly #selections = new Map<string, Selected<Row>>();
  readonly #pages = new LruMap<string, { readonly template: PageTemplate<Row> | undefined }>(rememberedTemplates);

  readonly #walked: WalkedReads<Row, Of>;

  constructor(source: Source<Of, RelationName>, maxWalked = defaultMaxWalked) {
    this.#source = source;
    this.#walked = new WalkedReads<Row, Of>(source, maxWalked);
  }

  /** One id, as it nearly always is, needs no map. */
  byIds(session: Session, ids: readonly Id[], include: Include<RelationName> = []): Promise<(Row | undefined)[]> {
    if (ids.length > 1) return this.#byManyIds(session, ids, include);
    if (ids.length === 0) return Promise.resolve([]);
    return session.lookUp(this.#selected(include).lookUp, ids[0] as Id).then((row) => [row]);
  }

  async page(
    session: Session,
    filter: FilterOf<Of['filter']>,
    keyset: Keyset<SortFieldOf<Of>>,
    include: Include<RelationName> = [],
  ): Promise<Slice<Row>> {
    const page = { conditions: this.#source.conditions(filter, false), keyset, include };
    const walked = this.#walk(session, page);
    if (walked !== undefined) return walked.then(([slice]) => slice as Slice<Row>);
    if (keyset.maxBytes === undefined) return cut(await this.#read(session, page, (rows) => rows), keyset);
    const rows = await this.#read(session, page, numbered);
    const slice = cut(
      rows.map(({ row }) => row),
      keyset,
    );
    // The number is how many rows there were for the page, and one more, before the bytes have cut it.
    return { ...slice, hasMore: (rows[0]?.number ?? 0) > slice.rows.length };
  }

  async pagePerParent(
    session: Session,
    parents: Parents<Row>,
    filter: FilterOf<Of['filter']>,
    keyset: Keyset<SortFieldOf<Of>>,
    include: Include<RelationName> = [],
  ): Promise<Slice<Row>[]> {
    const page = { conditions: this.#source.conditions(filter, true), keyset, include, parents };
    const walked = this.#walk(session, page);
    if (walked !== undefined) return walked;
    const perParent: Row[][] = parents.ids.map(() => []);
    // The number is that of the row's parent, from 1.
    for (const { number, row } of await this.#read(session, page, numbered)) {
      perParent[number - 1]?.push(row);
    }
    return perParent.map((rows) => cut(rows, keyset));
  }

  async count(session: Session, filter: FilterOf<Of['filter']>): Promise<number> {
    const [count = 0] = await this.#count(session, filter, undefined, ([value]) => Number(value));
    return count;
  }

  async countPerParent(session: Session, parents: Parents<Row>, filter: FilterOf<Of['filter']>): Promise<number[]> {
    const counts = new Map(
      await this.#count(session, filter, parents, ([count, id]) => [String(id), Number(count)] as const),
    );
    return parents.ids.map((id) => counts.get(id) ?? 0);
  }

  /** None when no row can match. */
  async #count<Count>(
    session: Session,
    filter: FilterOf<Of['filter']>,
    parents: Parents<Row> | undefined,
    decode: Statement<Count>['decode'],
  ): Promise<Count[]> {
    const conditions = this.#source.conditions(filter, parents !== undefined);
    if (conditions === undefined || parents?.ids.length === 0) return [];
    const placeholders = new Placeholders();
    const tests = conditions.map(({ sql }, index) => sql((type) => placeholders.bind(index, type)));
    const { from } = this.#source;
    const parent = this.#parentColumn(parents?.property);
    if (parents !== undefined) tests.push(`${parent} = any(${placeholders.bind(conditions.length, 'bigint[]')})`);
    const where = tests.length === 0 ? '' : `where ${tests.join(' and ')}`;
    const text =
      parents === undefined
        ? `select count(*) from ${from} ${where}`
        : `select count(*), ${parent} from ${from} ${where} group by 2`;
    const values = placeholders.parametersOf([...conditions.map(({ value }) => value), parents?.ids]);
    const columns = parents === undefined ? 1 : 2;
    const subject = `the totalCount of ${this.#source.list.sorting.kind}`;
    return session.run({ text, name: undefined, kind: 'slow', columns, decode, subject }, values, [lockOf(from)]);
  }

  async #byManyIds(session: Session, ids: readonly Id[], include: Include<RelationName>): Promise<(Row | undefined)[]> {
    const { lookUp } = this.#selected(include);
    const { byAnyId } = lookUp;
    const rows = await session.run(ids.length > maxSharedRows ? slow(byAnyId) : byAnyId, [ids]);
    const find = rowsById(lookUp, rows);
    return ids.map((id) => {
      const row = find(id);
      if (row instanceof UnreadableRow) throw domainFailureOf(row);
      return row;
    });
  }

  #selected(include: Include<RelationName>): Selected<Row> {
    const key = include.join();
    let selected = this.#selections.get(key);
    if (selected === undefined) {
      const { table, relations, from, list } = this.#source;
      // Whatever the order in which the caller names them.
      const names = Object.keys(relations).filter((name) => (include as readonly string[]).includes(name));
      const selection = selectionOf<Row>(table, relations, names);
      const select = `select ${selection.columns} from ${from} ${selection.joins} where ${table.column(table.keyProperty)} =`;
      const lookUp = lookUpOf<Row>(select, selection.columnCount, selection.decode, list.sorting.idOf);
      selected = { selection, lookUp };
      this.#selections.set(key, selected);
    }
    return selected;
  }

  /** The page, or that of each parent, if no index serves the whole filter in the order. */
  #walk(session: Session, { conditions, keyset, include, parents }: PageRead<Row, Of, RelationName>) {
    if (conditions === undefined || keyset.isUnread || parents?.ids.length === 0) return undefined;
    const by = this.#source.by[keyset.sort.field];
    if (!conditions.some((each) => isFilter(each, by))) return undefined;
    const { selection } = this.#selected(include);
    const { from } = this.#source;
    const parent = this.#parentColumn(parents?.property);
    return this.#walked.read(session, { from, parent, by, parents: parents?.ids, conditions, keyset, selection });
  }

  /** The rows of a page, or of the same page of each parent. */
  async #read<Result>(
    session: Session,
    { conditions, keyset, include, parents }: PageRead<Row, Of, RelationName>,
    variantOf: (rows: Statement<Row>) => Statement<Result>,
  ): Promise<Result[]> {
    if (conditions === undefined || keyset.isUnread || parents?.ids.length === 0) return [];
    const template = this.#pageTemplate(conditions, keyset, include, parents?.property);
    if (template === undefined) return [];
    const by = this.#source.by[keyset.sort.field];
    const choices = conditions.reduce((product, { choice }) => product * (choice?.count ?? 1), 1);
    const walks = choices * (parents?.ids.length ?? 1);
    const isLong = walks > maxSharedWalks || (keyset.limit + 1) * walks > maxSharedRows;
    const statement = variantOf(template.statement);
    const values = template.placeholders.parametersOf(pageValues({ by, conditions }, keyset, parents?.ids));
    if (!isLong && statement.kind === 'short') return session.run(statement, values);
    return session.run(slow(statement), values, [lockOf(template.from)]);
  }

  #pageTemplate(
    conditions: readonly Condition[],
    keyset: Keyset<SortFieldOf<Of>>,
    include: Include<RelationName>,
    parent: Parents<Row>['property'] | undefined,
  ): PageTemplate<Row> | undefined {
    const maxRows = keyset.limit > maxPageSize ? maxBatchSize : maxPageSize;
    const key = `${maxRows} ${parent} ${include.join()} ${pageTemplate(keyset, conditions)}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known.template;
    const { by, list, from } = this.#source;
    const { selection } = this.#selected(include);
    const page = pageText(
      {
        columns: selection.columns,
        columnCount: selection.columnCount,
        texts: selection.texts,
        from: `${from} ${selection.joins}`,
        parent: this.#parentColumn(parent),
        conditions,
        by: by[keyset.sort.field],
        maxRows,
      },
      keyset,
    );
    const subject = `a page of ${list.sorting.kind}`;
    const template = page && {
      from: `${from} ${selection.joins}`,
      placeholders: page.placeholders,
      statement: isPrepared(conditions, keyset)
        ? statementOf(page.sql, page.columnCount, selection.decode, 'short', { subject })
        : unprepared(statementOf(page.sql, page.columnCount, selection.decode, 'slow', { subject })),
    };
    this.#pages.set(key, { template });
    return template;
  }

  #parentColumn(property: string | undefined): string | undefined {
    return property && this.#source.table.column(property);
  }
}

interface PageRead<Row, Of extends List, RelationName extends string> {
  readonly conditions: Conditions;
  readonly keyset: Keyset<SortFieldOf<Of>>;
  readonly include: Include<RelationName>;
  readonly parents?: Parents<Row>;
}

interface Numbered<Row> {
  readonly number: number;
  readonly row: Row;
}

/** The same with the number that it selects after the columns. */
function numbered<Row>({ text, name, kind, columns, decode, subject }: Statement<Row>): Statement<Numbered<Row>> {
  const decodeNumbered = (fields: readonly (string | null)[]): Numbered<Row> => ({
    number: Number(fields.at(-1)),
    row: decode(fields),
  });
  return { text, name, kind, columns, decode: decodeNumbered, subject };
}

/** A statement that may read more rows than this is slow. */
const maxSharedRows = 2_000;
/** So is one that walks along an index more often. */
const maxSharedWalks = 200;

/** More than the templates in use: unprepared ones are as many as the combinations of filter, order and direction. */
const rememberedTemplates = 1_000;

interface PageTemplate<Row> {
  readonly from: string;
  readonly statement: Statement<Row>;
  readonly placeholders: Placeholders;
}

interface Selected<Row> {
  readonly selection: Selection<Row>;
  readonly lookUp: LookUp<Row>;
}

function cut<Row>(rows: readonly Row[], { limit, takeLast }: Keyset<string>): Slice<Row> {
  const page = rows.slice(0, limit);
  return { rows: takeLast ? page.toReversed() : page, hasMore: rows.length > limit };
}

import type { ListPosition } from '../../domain/cursor.ts';
import type { Id } from '../../domain/id.ts';
import {
  maxBatchSize,
  maxPageSize,
  positionOf,
  type Keyset,
  type List,
  type Slice,
  type SortFieldOf,
} from '../../domain/page.ts';
import type { Session, Statement } from '../../platform/postgres/index.ts';
import type { Condition } from './conditions.ts';
import { pageValues, type SortColumn } from './keyset-page.ts';
import type { Selection } from './selection.ts';
import type { Source } from './table-reads.ts';
import { lockOf } from './table-lock.ts';
import { walkedPageText } from './walked-page.ts';

/** How many rows a page looks at; nested lists share them among their parents. */
export const defaultMaxWalked = 200_000;

/** So many rows more are looked through than are fetched by an index of their own, and sorted, in the same time. */
const walkedPerMatched = 10;
/** A first walk, which is enough where many rows match. */
const maxQuick = 1_000;

/** A page of which some conditions are met by the rows of the order's index, and others aren't. */
interface WalkedRead<Row, Of extends List> {
  readonly conditions: readonly Condition[];
  readonly keyset: Keyset<SortFieldOf<Of>>;
  readonly selection: Selection<Row>;
  /** Where its rows are, and in which order. */
  readonly from: string;
  readonly by: readonly SortColumn[];
  /** The column that names the parents. */
  readonly parent?: string | undefined;
  readonly parents?: readonly Id[] | undefined;
}

/** A row that a walk has returned: one of the page, or the last one that it has looked at. */
interface Walked<Row> {
  /** Undefined if it doesn't match. */
  readonly row: Row | undefined;
  /** Where the walk has stopped. */
  readonly stop: ListPosition | undefined;
  /** The number of its parent, from 1. */
  readonly parent: number;
}

/** Whether no index serves the condition in the order: rows that don't meet it are looked at. */
export function isFilter(condition: Condition, by: readonly SortColumn[]): boolean {
  return condition.kind === 'range' ? condition.orderedBy !== by[0]?.column : condition.kind !== 'equality';
}

/** Reads pages by walks that end after so many rows. */
export class WalkedReads<Row, Of extends List<Row>> {
  readonly #source: Source<Of, string>;
  readonly #maxWalked: number;

  constructor(source: Source<Of, string>, maxWalked: number) {
    this.#source = source;
    this.#maxWalked = maxWalked;
  }

  /** One page, or that of each parent. */
  async read(session: Session, read: WalkedRead<Row, Of>): Promise<Slice<Row>[]> {
    const { from, by, conditions, keyset, selection, parent, parents } = read;
    const { list, table } = this.#source;
    const pages: Walked<Row>[][] = (parents ?? [undefined]).map(() => []);
    const filters = new Set(conditions.filter((each) => isFilter(each, by)));
    const text = walkedPageText(
      {
        ...selection,
        from,
        source: this.#source.from,
        parent,
        conditions,
        filters,
        by,
        maxRows: keyset.limit > maxPageSize ? maxBatchSize : maxPageSize,
        table: table.name,
        key: table.column(table.keyProperty),
        position: this.#position(keyset.sort.field),
        maxMatched: Math.floor(this.#maxWalked / walkedPerMatched / this.#rowsPerRow(filters)),
      },
      keyset,
    );
    if (text === undefined) return pages.map(() => ({ rows: [], hasMore: false }));
    const values = pageValues({ by, conditions }, keyset, parents, this.#shares(read, filters, text.ranges));
    const decode = this.#decoder(keyset, selection);
    const subject = `a page of ${list.sorting.kind}`;
    const { sql, columnCount: columns, placeholders } = text;
    const statement = { text: sql, name: undefined, kind: 'slow' as const, columns, decode, subject };
    const lock = lockOf(`${from} ${selection.joins}`);
    for (const row of await session.run(statement, placeholders.parametersOf(values), [lock]))
      pages[row.parent - 1]?.push(row);
    return pages.map((rows) => cut(rows, keyset));
  }

  /** How many rows each walk of the page looks at, and each of the short ones before. */
  #shares({ conditions, parents }: WalkedRead<Row, Of>, filters: ReadonlySet<Condition>, ranges: number): number[] {
    const walked = conditions.filter((each) => !filters.has(each));
    const choices = walked.reduce((product, { choice }) => product * (choice?.count ?? 1), 1);
    const walks = choices * ranges * (parents?.length ?? 1) * this.#rowsPerRow(filters);
    return [this.#maxWalked, Math.min(maxQuick, this.#maxWalked)].map((rows) => Math.max(1, Math.floor(rows / walks)));
  }

  /** A bound on rows is one on time: to test a row on these takes as long as to pass so many rows. */
  #rowsPerRow(filters: ReadonlySet<Condition>): number {
    const tests = Array.from(filters, ({ rowsPerTest = 1 }) => rowsPerTest);
    return Math.max(1, ...tests) * (1 + (this.#source.lookUpsPerRow ?? 0));
  }

  #position(field: SortFieldOf<Of>): [value: string, id: string] {
    const { table, list } = this.#source;
    const property = list.sorting.keys[field]?.property;
    const column = table.columns.find((each) => each.property === property);
    return [`${column?.read(table.name) ?? 'null'} as "sortValue"`, `${table.column(table.keyProperty)} as "sortId"`];
  }

  #decoder(
    { sort }: Keyset<SortFieldOf<Of>>,
    { columnCount, decode }: Selection<Row>,
  ): Statement<Walked<Row>>['decode'] {
    const { table, list } = this.#source;
    const key = list.sorting.keys[sort.field] ?? null;
    const column = table.columns.find(({ property }) => property === key?.property);
    return (fields) => {
      const [matches, stops, text = null, id, parent = '1'] = fields.slice(columnCount);
      const value = text === null ? null : (column?.parse?.(text) ?? text);
      return {
        row: matches === 't' ? decode(fields) : undefined,
        stop: stops === 't' ? { value: key && positionOf(key, value), id: id as Id } : undefined,
        parent: Number(parent),
      };
    };
  }
}

/** Cuts where a walk has stopped: others may have gone further, but its own rows would be missing there. */
function cut<Row>(walked: readonly Walked<Row>[], { limit, takeLast }: Keyset<string>): Slice<Row> {
  const stopped = walked.findIndex(({ stop }) => stop !== undefined);
  const seen = stopped === -1 ? walked : walked.slice(0, stopped + 1);
  const found = seen.flatMap(({ row }) => row ?? []);
  const page = found.slice(0, limit);
  const rows = takeLast ? page.toReversed() : page;
  if (found.length > limit) return { rows, hasMore: true };
  return { rows, hasMore: stopped !== -1, stop: walked[stopped]?.stop };
}

import type { GraphQLResolveInfo } from 'graphql';

import type { ListRequest, Page, PageArguments } from '../../domain/page.ts';
import type { Include } from '../../domain/store.ts';
import { included, type PreparedInfo } from '../../platform/executor/index.ts';
import type { Children } from '../loaders.ts';
import { relationsOf } from '../relations.ts';

export interface Edge<Row> {
  readonly node: Row;
  readonly cursor: string;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | undefined;
  readonly endCursor: string | undefined;
}

/** The fields of a connection for which its rows are read. */
export const pageFields: ReadonlySet<string> = new Set(['edges', 'nodes', 'pageInfo']);

/** Without a part of the page, as with `totalCount` alone, its rows aren't read. */
export function requestFor<Request extends PageArguments>(request: Request, info: GraphQLResolveInfo): Request {
  const selected = (info as PreparedInfo).selected();
  return selected.some((name) => pageFields.has(name)) ? request : { ...request, isUnread: true };
}

/** When the quota of the field is exceeded, one parent gets the error, and the others null. */
export async function childConnection<Row, Parent>(
  children: Children<Row, Parent>,
  parent: Parent,
  args: ListRequest<object, string>,
  info: GraphQLResolveInfo,
): Promise<PageConnection<Row> | null> {
  const include = relationsOf(info);
  const id = children.idOf(parent);
  const page = await children.page(args, requestFor(args, info), include).load(id);
  return page && new PageConnection(page, () => children.count(args).load(id), include);
}

/** Each property is computed only when it is selected, and once, however many aliases select it. */
export class PageConnection<Row> {
  readonly [included]: Include<string>;
  readonly #page: Page<Row>;
  readonly #count: () => Promise<number>;
  #edges: readonly Edge<Row>[] | undefined;
  #ends: PageEnds<Row> | undefined;

  constructor(page: Page<Row>, count: () => Promise<number>, include: Include<string> = []) {
    this[included] = include;
    this.#page = page;
    this.#count = count;
  }

  get edges(): readonly Edge<Row>[] {
    return (this.#edges ??= this.nodes.map((node) => new PageEdge(node, this.#page)));
  }

  get nodes(): readonly Row[] {
    return this.#page.rows;
  }

  get pageInfo(): PageInfo {
    return (this.#ends ??= new PageEnds(this.#page));
  }

  get totalCount(): Promise<number> {
    return this.#count();
  }
}

class PageEdge<Row> implements Edge<Row> {
  readonly node: Row;
  readonly #page: Page<Row>;
  #cursor: string | undefined;

  constructor(node: Row, page: Page<Row>) {
    this.node = node;
    this.#page = page;
  }

  get cursor(): string {
    return (this.#cursor ??= this.#page.cursorOf(this.node));
  }
}

class PageEnds<Row> implements PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #page: Page<Row>;
  readonly #cursors = new Map<Row, string>();

  constructor(page: Page<Row>) {
    this.hasNextPage = page.hasNextPage;
    this.hasPreviousPage = page.hasPreviousPage;
    this.#page = page;
  }

  get startCursor(): string | undefined {
    return this.#stopAt('start') ?? this.#cursorOf(this.#page.rows.at(0));
  }

  get endCursor(): string | undefined {
    return this.#stopAt('end') ?? this.#cursorOf(this.#page.rows.at(-1));
  }

  #stopAt(side: 'start' | 'end'): string | undefined {
    const { stop } = this.#page;
    return stop?.side === side ? stop.cursor : undefined;
  }

  #cursorOf(row: Row | undefined): string | undefined {
    if (row === undefined) return undefined;
    const cursor = this.#cursors.get(row) ?? this.#page.cursorOf(row);
    this.#cursors.set(row, cursor);
    return cursor;
  }
}

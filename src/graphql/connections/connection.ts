import type { Page } from '../../domain/page.ts';

/** What a connection field answers; nothing of it is computed before it is asked for. */
export interface Connection<Row> {
  readonly edges: readonly Edge<Row>[];
  readonly pageInfo: PageInfo;
  readonly totalCount: Promise<number>;
}

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

/** Presents a page as a connection of the Relay specification. */
export function connectionOf<Row>(page: Page<Row>, count: () => Promise<number>): Connection<Row> {
  return {
    get edges() {
      return page.rows.map((node) => ({
        node,
        get cursor() {
          return page.cursorOf(node);
        },
      }));
    },
    get pageInfo() {
      return pageInfoOf(page);
    },
    get totalCount() {
      return count();
    },
  };
}

function pageInfoOf<Row>(page: Page<Row>): PageInfo {
  const cursorOf = (row: Row | undefined): string | undefined => (row === undefined ? undefined : page.cursorOf(row));
  return {
    hasNextPage: page.hasNextPage,
    hasPreviousPage: page.hasPreviousPage,
    get startCursor() {
      return cursorOf(page.rows.at(0));
    },
    get endCursor() {
      return cursorOf(page.rows.at(-1));
    },
  };
}

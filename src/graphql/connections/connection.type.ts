import { Field, Int, ObjectType, type ClassType } from 'type-graphql';

import type { Edge, PageConnection, PageInfo } from './connection.ts';

@ObjectType('PageInfo', { description: 'The position of a page in its list.' })
export class PageInfoType implements PageInfo {
  @Field(() => Boolean, {
    description:
      'Whether there may be more after this page, which ends early, maybe empty, when it has looked at 200,000 rows, or 80,000 for a search; paging backwards, whether it ends before a cursor.',
  })
  hasNextPage!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether there may be more before this page, which ends as early; paging forwards, whether it begins after a cursor.',
  })
  hasPreviousPage!: boolean;

  @Field(() => String, {
    nullable: true,
    description:
      'The cursor of the first edge, or where to go on backwards if the page ends early; null on any other empty page.',
  })
  startCursor!: string | undefined;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last edge, or where to go on if the page ends early; null on any other empty page.',
  })
  endCursor!: string | undefined;
}

/** As Relay has it; `nodes` and `totalCount` are extensions, and the count is a statement of its own. */
export function connectionType<Node extends object>(name: string, nodeType: () => ClassType) {
  @ObjectType(`${name}Edge`, {
    description: `An edge of a list of type ${name}: an entry and its cursor.`,
  })
  class EdgeType implements Edge<Node> {
    @Field(nodeType, { description: `The ${name}.` })
    node!: Node;

    @Field(() => String, { description: 'Its position, for `after` or `before` of the same list.' })
    cursor!: string;
  }

  @ObjectType(`${name}Connection`, { description: `A page of a list of type ${name}.` })
  class ConnectionType implements Pick<PageConnection<Node>, 'edges' | 'nodes' | 'pageInfo' | 'totalCount'> {
    @Field(() => [EdgeType], { description: 'The entries of the page, in the requested order.' })
    edges!: readonly Edge<Node>[];

    @Field(() => [nodeType()], { description: 'The entries of `edges` without their cursors.' })
    nodes!: readonly Node[];

    @Field(() => PageInfoType, { description: 'Whether there are more pages, and the cursors to request them with.' })
    pageInfo!: PageInfo;

    @Field(() => Int, {
      simple: false,
      description: 'The number of entries in the whole filtered list. Counted only when it is selected.',
    })
    totalCount!: Promise<number>;
  }

  return ConnectionType;
}

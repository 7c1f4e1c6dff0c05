import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';

import type { NounName, RowOf } from '../../domain/nouns.ts';
import type { GraphQLContext } from '../context.ts';
import { NeedsScope } from '../scopes.ts';
import { decodeNodeId, decodeNodeIds, loadNode } from './node-id.ts';
import { NodeType } from './node.type.ts';

/** Finds nodes of any type by their global ids. The loaders read the nodes of one type by one statement. */
@Resolver()
export class NodeQueryResolver {
  @NeedsScope('read')
  @Query(() => NodeType, {
    nullable: true,
    description: 'The node with this global id; null when there is none.',
  })
  node(
    @Arg('nodeId', () => ID, { description: 'The `nodeId` of a node.' }) nodeId: string,
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<RowOf<NounName> | null> {
    return loadNode(loaders, decodeNodeId(nodeId));
  }

  @NeedsScope('read')
  @Query(() => [NodeType], {
    nullable: 'itemsAndList',
    description: 'The nodes with these global ids, in their order; null where there is none.',
  })
  nodes(
    @Arg('nodeIds', () => [ID], { description: 'The global ids of nodes, at most 100.' }) nodeIds: string[],
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<(RowOf<NounName> | null)[]> {
    return Promise.all(decodeNodeIds(nodeIds).map((key) => loadNode(loaders, key)));
  }
}

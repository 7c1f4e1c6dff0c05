import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';

import type { GraphQLContext } from '../context.ts';
import type { Loaders } from '../loaders.ts';
import { decodeNodeId, decodeNodeIds, type NodeTypeName } from './node-id.ts';
import { NodeType, type TypedNode } from './node.type.ts';

/** Finds nodes of any type by their global ids. The loaders read the nodes of one type by one statement. */
@Resolver()
export class NodeResolver {
  @Query(() => NodeType, {
    nullable: true,
    description: 'The node with this global id; null when there is none.',
  })
  node(
    @Arg('nodeId', () => ID, { description: 'The `nodeId` of a node.' }) nodeId: string,
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<TypedNode | null> {
    const { type, id } = decodeNodeId(nodeId);
    return load(loaders, type, id);
  }

  @Query(() => [NodeType], {
    nullable: 'itemsAndList',
    description: 'The nodes with these global ids, in their order; null where there is none.',
  })
  nodes(
    @Arg('nodeIds', () => [ID], { description: 'The global ids of nodes, at most 100.' }) nodeIds: string[],
    @Ctx() { loaders }: GraphQLContext,
  ): Promise<(TypedNode | null)[]> {
    return Promise.all(decodeNodeIds(nodeIds).map(({ type, id }) => load(loaders, type, id)));
  }
}

async function load(loaders: Loaders, type: NodeTypeName, id: string): Promise<TypedNode | null> {
  const loaderByType = {
    Pet: () => loaders.petById(),
    Category: () => loaders.categoryById(),
    Order: () => loaders.orderById(),
    InventoryItem: () => loaders.inventoryItemByPetId(),
  } satisfies Record<NodeTypeName, () => { load(id: string): Promise<object | null> }>;
  const row: object | null = await loaderByType[type]().load(id);
  return row && { ...row, __typename: type };
}

import { Field, ID, InterfaceType } from 'type-graphql';

import type { TypedNode } from './node-id.ts';

export const nodeIdDescription = 'The global id: opaque, stable and unique among all types.';

/**
 * Relay's Object Identification, under the name `nodeId`: `id` is an int64, which differs within a type only.
 *
 * The resolver of each type that implements it resolves `nodeId`.
 */
@InterfaceType('Node', {
  description: 'An object with a global id.',
  resolveType: (node: TypedNode) => node.__typename,
})
export abstract class NodeType {
  @Field(() => ID, { description: nodeIdDescription })
  nodeId!: string;
}

import { Field, ID, InterfaceType } from 'type-graphql';

export const nodeIdDescription = 'The global id: opaque, stable and unique among all types.';

/**
 * Relay's Object Identification, under the name `nodeId`: `id` is an int64, which differs within a type only.
 *
 * The resolver of each type that implements it resolves `nodeId`. Its objects have their type's name in `__typename`.
 */
@InterfaceType('Node', { description: 'An object with a global id.' })
export abstract class NodeType {
  @Field(() => ID, { description: nodeIdDescription })
  nodeId!: string;
}

import { Field, ID, InterfaceType } from 'type-graphql';

import { nounNames, nouns, type NodeTypeName } from '../../domain/nouns.ts';

const typeNames = new Map<unknown, NodeTypeName>(nounNames.map((noun) => [nouns[noun].entity, nouns[noun].typeName]));

export const nodeIdDescription = 'The global id: opaque, stable and unique among all types.';

/** Relay's Object Identification under another name: `id` is an int64, which differs within a type only. */
@InterfaceType('Node', {
  description: 'An object with a global id.',
  resolveType: (row: object) => typeNames.get(row.constructor),
})
export abstract class NodeType {
  @Field(() => ID, { description: nodeIdDescription })
  nodeId!: string;
}

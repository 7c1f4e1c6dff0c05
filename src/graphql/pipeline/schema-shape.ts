import { getNamedType, isInterfaceType, isObjectType, type GraphQLNamedType } from 'graphql';

export function typeOfField(parent: GraphQLNamedType | undefined, name: string): GraphQLNamedType | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return getNamedType(parent.getFields()[name]?.type);
}

/** Recognised by its shape, as in the Relay specification; so is an edge. */
export function isConnection(type: GraphQLNamedType | undefined): boolean {
  return hasFields(type, 'edges', 'pageInfo');
}

export function isEdge(type: GraphQLNamedType | undefined): boolean {
  return hasFields(type, 'node', 'cursor');
}

function hasFields(type: GraphQLNamedType | undefined, ...names: readonly string[]): boolean {
  if (!isObjectType(type)) return false;
  const fields = type.getFields();
  return names.every((name) => fields[name] !== undefined);
}

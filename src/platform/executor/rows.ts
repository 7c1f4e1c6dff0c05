import { getNamedType, type GraphQLField, type GraphQLObjectType, type GraphQLOutputType, isObjectType } from 'graphql';

import { extensionsOf } from './extensions.ts';

type Field = GraphQLField<unknown, unknown>;

/** A row's type has fields that are the one related row. */
export function isRow(type: GraphQLObjectType): boolean {
  return Object.values(type.getFields()).some((field) => extensionsOf(field).toOne === true);
}

/**
 * Throws for a field whose value, or one field of it, has rows of several types: what is selected on one of them isn't
 * related to others.
 */
export function assertOneRowType({ name, type }: Field, payloadField?: string): void {
  const payload = getNamedType(type);
  const inPayload =
    payloadField === undefined || !isObjectType(payload) ? undefined : payload.getFields()[payloadField];
  if (payloadField !== undefined && inPayload === undefined)
    throw new TypeError(`The payload of ${name} has no field ${payloadField}.`);
  if (rowTypesIn(inPayload?.type ?? type, new Set()).length <= 1) return;
  throw new TypeError(`${name} returns rows of several types: ask for the relations of one field of its payload.`);
}

export function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}

/** In a value itself, or in its plain properties. */
function rowTypesIn(type: GraphQLOutputType, seen: Set<GraphQLObjectType>): readonly GraphQLObjectType[] {
  const named = getNamedType(type);
  if (!isObjectType(named) || seen.has(named)) return [];
  seen.add(named);
  if (isRow(named)) return [named];
  const plain = Object.values(named.getFields()).filter(({ resolve }) => resolve === undefined);
  return plain.flatMap((field) => rowTypesIn(field.type, seen));
}

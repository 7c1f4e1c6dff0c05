import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  type GraphQLEnumType,
  type GraphQLLeafType,
} from 'graphql';

/** The JSON text of a leaf's value that is neither null nor undefined; throws what the type's `serialize` throws. */
export type WriteLeaf = (value: unknown) => string;

/** Prepares a leaf type. Values of the usual kinds are written at once, all others as `serialize` has them. */
export function prepareLeaf(type: GraphQLLeafType): WriteLeaf {
  const serialize = (value: unknown): string => {
    const serialized: unknown = type.serialize(value);
    const text = serialized === undefined ? undefined : (JSON.stringify(serialized) as string | undefined);
    if (text === undefined || text === 'null') {
      throw new Error(`Expected \`${type.name}.serialize\` to return a value that JSON can hold.`);
    }
    return text;
  };
  if (isEnumType(type)) return prepareEnum(type, serialize);
  if (type === GraphQLString || type === GraphQLID) {
    return (value) => (typeof value === 'string' ? JSON.stringify(value) : serialize(value));
  }
  if (type === GraphQLInt) {
    return (value) => (typeof value === 'number' && (value | 0) === value ? String(value) : serialize(value));
  }
  if (type === GraphQLBoolean) {
    return (value) => (value === true ? 'true' : value === false ? 'false' : serialize(value));
  }
  return serialize;
}

function prepareEnum(type: GraphQLEnumType, serialize: WriteLeaf): WriteLeaf {
  const texts = new Map(type.getValues().map(({ name, value }) => [value as unknown, `"${name}"`]));
  return (value) => texts.get(value) ?? serialize(value);
}

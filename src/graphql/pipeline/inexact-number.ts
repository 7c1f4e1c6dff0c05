import { GraphQLID, isInputObjectType, isListType, isNonNullType, isScalarType, type GraphQLInputType } from 'graphql';

const integer = /^-?\d+$/;

/**
 * A JSON number of the variables that a JavaScript number can't keep. Messages of graphql-js show it as it was sent.
 */
export class InexactNumber {
  readonly literal: string;

  constructor(literal: string) {
    this.literal = literal;
  }

  toJSON(): string {
    return this.literal;
  }
}

/**
 * The value with exact ids: an integer becomes its digits where the type is `ID`. Any other number stays one that the
 * type refuses.
 */
export function withExactIds(value: unknown, type: GraphQLInputType): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isNonNullType(type)) return withExactIds(value, type.ofType);
  if (isListType(type)) {
    const item = type.ofType;
    return Array.isArray(value) ? value.map((each) => withExactIds(each, item)) : withExactIds(value, item);
  }
  if (value instanceof InexactNumber) {
    if (type === GraphQLID && integer.test(value.literal)) return value.literal;
    // graphql-js takes any object for an input object.
    return isScalarType(type) ? value : Number(value.literal);
  }
  if (!isInputObjectType(type) || Array.isArray(value)) return value;
  const fields = type.getFields();
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return [name, field === undefined ? each : withExactIds(each, field.type)];
  });
  return Object.fromEntries(entries);
}

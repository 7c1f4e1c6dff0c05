import {
  GraphQLID,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';

const integer = /^-?\d+$/;

/**
 * A JSON number of the variables that a JavaScript number can't keep. Messages of graphql-js show it as it was sent.
 */
export class InexactNumber {
  readonly literal: string;

  constructor(literal: string) {
    // A copy: as a part of the body's text it would keep all of that.
    this.literal = Buffer.from(literal).toString();
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
  return withExactFields(value as Readonly<Record<string, unknown>>, type);
}

/** It may have any number of fields that the type doesn't know. */
function withExactFields(
  value: Readonly<Record<string, unknown>>,
  type: GraphQLInputObjectType,
): Readonly<Record<string, unknown>> {
  const exact: Record<string, unknown> = {};
  for (const { name, type: fieldType } of Object.values(type.getFields())) {
    if (!Object.hasOwn(value, name)) continue;
    const field = withExactIds(value[name], fieldType);
    if (field !== value[name]) exact[name] = field;
  }
  return Object.keys(exact).length === 0 ? value : { ...value, ...exact };
}

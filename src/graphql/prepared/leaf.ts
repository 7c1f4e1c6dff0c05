import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  type GraphQLEnumType,
  type GraphQLLeafType,
} from 'graphql';

/** The JSON text of a value; undefined for one that may be a promise, an error or invalid. */
export type WriteAtOnce = (value: unknown) => string | undefined;

export interface LeafWriter {
  readonly writeAtOnce: WriteAtOnce;
  /** The JSON text of a value that is neither null nor undefined; throws what the type's `serialize` throws. */
  readonly write: (value: unknown) => string;
}

/** Characters that JSON escapes, or may escape. */
// oxlint-disable-next-line no-control-regex
const escapedCharacter = /["\\\u0000-\u001F\uD800-\uDFFF]/;

const writers = new WeakMap<GraphQLLeafType, LeafWriter>();

/** Prepares a leaf type, once for all fields. Values of the usual kinds are written at once, all others as `serialize` has them. */
export function prepareLeaf(type: GraphQLLeafType): LeafWriter {
  const writer = writers.get(type) ?? makeWriter(type);
  writers.set(type, writer);
  return writer;
}

function makeWriter(type: GraphQLLeafType): LeafWriter {
  const serialize = (value: unknown): string => {
    const serialized: unknown = type.serialize(value);
    const text = serialized === undefined ? undefined : (JSON.stringify(serialized) as string | undefined);
    if (text === undefined || text === 'null') {
      throw new Error(`Expected \`${type.name}.serialize\` to return a value that JSON can hold.`);
    }
    return text;
  };
  const writeAtOnce = usualText(type) ?? attempted(serialize);
  return { writeAtOnce, write: (value) => writeAtOnce(value) ?? serialize(value) };
}

/** Undefined for a type whose values only `serialize` knows. */
function usualText(type: GraphQLLeafType): WriteAtOnce | undefined {
  if (isEnumType(type)) return enumText(type);
  if (type === GraphQLString || type === GraphQLID) {
    return (value) => (typeof value === 'string' ? quoted(value) : undefined);
  }
  if (type === GraphQLInt) {
    return (value) => (typeof value === 'number' && (value | 0) === value ? String(value) : undefined);
  }
  if (type === GraphQLBoolean) return (value) => (value === true ? 'true' : value === false ? 'false' : undefined);
  return undefined;
}

function quoted(text: string): string {
  return escapedCharacter.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function enumText(type: GraphQLEnumType): WriteAtOnce {
  const texts = new Map(type.getValues().map(({ name, value }) => [value as unknown, `"${name}"`]));
  return (value) => texts.get(value);
}

function attempted(serialize: (value: unknown) => string): WriteAtOnce {
  return (value) => {
    if (typeof value === 'object' && !(value instanceof Date)) return undefined;
    try {
      return serialize(value);
    } catch {
      return undefined;
    }
  };
}

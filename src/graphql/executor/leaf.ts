import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  type GraphQLEnumType,
  type GraphQLLeafType,
} from 'graphql';

/** How a value is written that needs no path, no `info` and no promise. */
export interface AtOnce {
  /** Written before and after the value: it becomes part of the constant text of the field. */
  readonly quote: '"' | '';
  /**
   * Appends the value's JSON text, without its quotes, to a text; undefined for a value that may be a promise, an error
   * or invalid.
   */
  readonly append: (text: string, value: unknown) => string | undefined;
}

export interface LeafWriter {
  readonly atOnce: AtOnce;
  /** The JSON text of a value that is neither null nor undefined; throws what the type's `serialize` throws. */
  readonly write: (value: unknown) => string;
}

/** The JSON text of a value, with its quotes. */
export function writeAtOnce({ quote, append }: AtOnce, value: unknown): string | undefined {
  const text = append(quote, value);
  return text === undefined ? undefined : text + quote;
}

/** Characters that JSON escapes, or may escape. */
// oxlint-disable-next-line no-control-regex
const escapedCharacter = /["\\\u0000-\u001F\uD800-\uDFFF]/;

const writers = new WeakMap<GraphQLLeafType, LeafWriter>();

/**
 * Prepares a leaf type, once for all fields. Values of the usual kinds are written at once, all others as `serialize`
 * has them.
 */
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
  const atOnce = usualText(type) ?? attempted(serialize);
  return { atOnce, write: (value) => writeAtOnce(atOnce, value) ?? serialize(value) };
}

/** Undefined for a type whose values only `serialize` knows. */
function usualText(type: GraphQLLeafType): AtOnce | undefined {
  if (isEnumType(type)) return enumText(type);
  if (type === GraphQLString || type === GraphQLID) {
    return { quote: '"', append: (text, value) => (typeof value === 'string' ? text + escaped(value) : undefined) };
  }
  if (type === GraphQLInt) {
    return { quote: '', append: (text, value) => (isInt(value) ? text + String(value) : undefined) };
  }
  if (type === GraphQLBoolean) {
    return { quote: '', append: (text, value) => (typeof value === 'boolean' ? text + String(value) : undefined) };
  }
  return undefined;
}

function isInt(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

function escaped(text: string): string {
  return escapedCharacter.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

function enumText(type: GraphQLEnumType): AtOnce {
  // Of several names for a value the last one counts, as in `serialize`.
  const names = [...new Map(type.getValues().map(({ name, value }) => [value as unknown, name]))];
  return {
    quote: '"',
    append: (text, value) => {
      // A few comparisons cost less than hashing, which a map needs for every new string.
      for (const [each, name] of names) if (each === value) return text + name;
      return undefined;
    },
  };
}

function attempted(serialize: (value: unknown) => string): AtOnce {
  return {
    quote: '',
    append: (text, value) => {
      if (typeof value === 'object' && !(value instanceof Date)) return undefined;
      try {
        return text + serialize(value);
      } catch {
        return undefined;
      }
    },
  };
}

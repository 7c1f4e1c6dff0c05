import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  type GraphQLEnumType,
  type GraphQLLeafType,
} from 'graphql';

import type { ValueWriter } from './write.ts';

interface LeafWriter extends Pick<ValueWriter, 'quote'> {
  /** Throws what the type's `serialize` throws. */
  readonly append: (text: string, value: unknown) => string;
}

/** Characters that JSON escapes, or may escape. */
// oxlint-disable-next-line no-control-regex
const escapedCharacter = /["\\\u0000-\u001F\uD800-\uDFFF]/;

const writers = new WeakMap<GraphQLLeafType, LeafWriter>();

/**
 * Prepares a leaf type, once for all fields. Values of the usual kinds are written as they are, all others as
 * `serialize` has them.
 */
export function prepareLeaf(type: GraphQLLeafType): LeafWriter {
  const writer = writers.get(type) ?? makeWriter(type);
  writers.set(type, writer);
  return writer;
}

function makeWriter(type: GraphQLLeafType): LeafWriter {
  if (isEnumType(type)) return enumWriter(type);
  if (type === GraphQLString || type === GraphQLID) {
    const append: LeafWriter['append'] = (text, value) =>
      text + (typeof value === 'string' ? escaped(value) : unquoted(type, value));
    return { quote: '"', append };
  }
  const isPlain = type === GraphQLInt ? isInt : type === GraphQLBoolean ? isBoolean : isUnknown;
  return { quote: '', append: (text, value) => text + (isPlain(value) ? String(value) : serialized(type, value)) };
}

const isInt = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isUnknown = (): boolean => false;

function escaped(text: string): string {
  return escapedCharacter.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

function enumWriter(type: GraphQLEnumType): LeafWriter {
  // Of several names for a value the last one counts, as in `serialize`.
  const names = [...new Map(type.getValues().map(({ name, value }) => [value as unknown, name]))];
  const append: LeafWriter['append'] = (text, value) => {
    // A few comparisons cost less than hashing, which a map needs for every new string.
    for (const [each, name] of names) if (each === value) return text + name;
    return text + unquoted(type, value);
  };
  return { quote: '"', append };
}

/** Of a type that is written as a string. */
function unquoted(type: GraphQLLeafType, value: unknown): string {
  return serialized(type, value).slice(1, -1);
}

function serialized(type: GraphQLLeafType, value: unknown): string {
  if (value instanceof Error) throw value;
  const text = JSON.stringify(type.serialize(value)) as string | undefined;
  if (text === undefined || text === 'null') {
    throw new Error(`Expected \`${type.name}.serialize\` to return a value that JSON can hold.`);
  }
  return text;
}
